"""DBOS with its system database in SQLite, as its documentation starts: all defaults."""

from __future__ import annotations

import asyncio
from pathlib import Path

from dbos import DBOS, DBOSConfig, SetWorkflowID

from benchmarks.subjects import driver

_mark: list[driver.Mark] = []


@DBOS.step()
async def nothing(run_id: str, index: int) -> None:
    _mark[0](run_id, index)


@DBOS.workflow()
async def work(run_id: str, shape: str, tasks: int) -> None:
    if shape == "chain":
        for index in range(tasks):
            await nothing(run_id, index)
    else:
        await asyncio.gather(*[nothing(run_id, index) for index in range(tasks)])


class Dbos:
    concurrent_runs = 1000

    async def start(self, home: Path, mark: driver.Mark) -> None:
        _mark.append(mark)
        config: DBOSConfig = {
            "name": "bench",
            "system_database_url": f"sqlite:///{home / 'dbos.sqlite'}",
            "log_level": "ERROR",
            "application_version": "1",
        }
        DBOS(config=config)
        DBOS.launch()

    async def run(self, run_id: str, shape: str, tasks: int) -> None:
        with SetWorkflowID(run_id):
            handle = await DBOS.start_workflow_async(work, run_id, shape, tasks)
        await handle.get_result()

    async def stop(self) -> None:
        DBOS.destroy()


if __name__ == "__main__":
    driver.main(Dbos())
