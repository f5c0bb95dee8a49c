"""Restate: its server as one process, and the service in this one."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import httpx
import restate
from hypercorn.asyncio import serve
from hypercorn.config import Config

from benchmarks.subjects import driver, server

_mark: list[driver.Mark] = []
work = restate.Workflow("Work")


def nothing(run_id: str, index: int) -> None:
    _mark[0](run_id, index)


@work.main()
async def run(ctx: restate.WorkflowContext, asked: dict[str, object]) -> None:
    run_id, shape, tasks = str(asked["run_id"]), asked["shape"], int(str(asked["tasks"]))
    if shape == "chain":
        for index in range(tasks):
            await ctx.run_typed("task", nothing, run_id=run_id, index=index)
    else:
        await restate.gather(
            *[ctx.run_typed("task", nothing, run_id=run_id, index=index) for index in range(tasks)]
        )


class Restate:
    concurrent_runs = 1000

    async def start(self, home: Path, mark: driver.Mark) -> None:
        _mark.append(mark)
        port = server.ports(home, "service", "ingress", "admin", "node")
        config = Config()
        config.bind = [f"127.0.0.1:{port['service']}"]
        config.h2_max_concurrent_streams = 2147483647
        config.keep_alive_max_requests = 2147483647
        config.loglevel = "ERROR"
        never = asyncio.Event()
        self._service = asyncio.create_task(
            serve(restate.app([work]), config, shutdown_trigger=never.wait)
        )
        self._server = server.spawn(
            [
                os.environ["RESTATE_SERVER"],
                "--no-logo",
                "--listen-mode",
                "tcp",
                "--bind-ip",
                "127.0.0.1",
                "--node-name",
                "bench",
                "--base-dir",
                str(home / "data"),
            ],
            home,
            {
                "RESTATE_INGRESS__BIND_ADDRESS": f"127.0.0.1:{port['ingress']}",
                "RESTATE_ADMIN__BIND_ADDRESS": f"127.0.0.1:{port['admin']}",
                "RESTATE_BIND_ADDRESS": f"127.0.0.1:{port['node']}",
                "RESTATE_DISABLE_TELEMETRY": "true",
                "RESTATE_LOG_FILTER": "error",
            },
        )
        await server.answering(f"http://127.0.0.1:{port['admin']}/health", self._server)
        await server.answering(f"http://127.0.0.1:{port['ingress']}/restate/health", self._server)
        self._http = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port['ingress']}",
            timeout=300.0,
            limits=httpx.Limits(max_connections=None),
        )
        registered = home / "registered"
        if not registered.exists():
            await self._register(port)
            registered.touch()

    async def _register(self, port: dict[str, int]) -> None:
        async with httpx.AsyncClient(timeout=60.0) as admin:
            answer = await admin.post(
                f"http://127.0.0.1:{port['admin']}/deployments",
                json={"uri": f"http://127.0.0.1:{port['service']}"},
            )
            answer.raise_for_status()

    async def run(self, run_id: str, shape: str, tasks: int) -> None:
        asked = {"run_id": run_id, "shape": shape, "tasks": tasks}
        answer = await self._http.post(f"/Work/{run_id}/run", json=asked)
        if answer.status_code == httpx.codes.CONFLICT:
            answer = await self._http.get(f"/restate/workflow/Work/{run_id}/attach")
        answer.raise_for_status()

    async def stop(self) -> None:
        await self._http.aclose()
        self._server.terminate()
        self._service.cancel()


if __name__ == "__main__":
    driver.main(Restate())
