"""Prefect: a local server on SQLite, flows in this process, task results persisted.

Prefect does not take up a killed flow by itself. Results cached under a key of run and task are
its way not to repeat finished work, so attaching means calling the flow again.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from benchmarks.subjects import driver, server


class Prefect:
    concurrent_runs = 4  # With 10 at once the server answers 503.

    async def start(self, home: Path, mark: driver.Mark) -> None:
        port = server.ports(home, "api")["api"]
        api = f"http://127.0.0.1:{port}/api"
        os.environ.update(
            server.QUIET,
            PREFECT_HOME=str(home / "prefect"),
            PREFECT_API_URL=api,
            PREFECT_LOCAL_STORAGE_PATH=str(home / "results"),
            PREFECT_LOGGING_LEVEL="ERROR",
            PREFECT_LOGGING_TO_API_ENABLED="false",
            PREFECT_SERVER_LOGGING_LEVEL="ERROR",
        )
        self._server = server.spawn(
            [
                sys.executable,
                "-m",
                "prefect",
                "server",
                "start",
                "--no-ui",
                "--host",
                "127.0.0.1",
                "--port",
                str(port),
            ],
            home,
        )
        await server.answering(f"{api}/health", self._server)
        # Prefect reads its settings when it is imported, so they have to stand first.
        from prefect import flow, task

        @task(persist_result=True, cache_key_fn=lambda _, given: "{run_id}-{index}".format(**given))
        async def nothing(run_id: str, index: int) -> int:
            mark(run_id, index)
            return index

        @flow
        async def work(run_id: str, shape: str, tasks: int) -> None:
            if shape == "chain":
                for index in range(tasks):
                    await nothing(run_id, index)
            else:
                await asyncio.gather(*[nothing(run_id, index) for index in range(tasks)])

        self._work = work

    async def run(self, run_id: str, shape: str, tasks: int) -> None:
        await self._work(run_id, shape, tasks)

    async def stop(self) -> None:
        self._server.terminate()


if __name__ == "__main__":
    driver.main(Prefect())
