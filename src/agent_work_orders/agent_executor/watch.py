"""Running an agent's program with one deadline that a sandbox does not know: its first word.

Wall time and idle time are the sandbox's; "never started talking" is a different failure (a login
prompt, a wrong binary) and deserves a shorter limit than an agent that thinks for minutes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal

from agent_work_orders.agent_executor.agent import AgentRequest
from agent_work_orders.errors import Environmental
from agent_work_orders.sandbox_manager.sandbox import Execution, Output, Sandbox


class Silent(Exception):
    """Nothing was printed within the first-output limit; the program is dead."""


async def execute(
    sandbox: Sandbox,
    argv: Sequence[str],
    *,
    request: AgentRequest,
    stdin: bytes,
    env: Mapping[str, str],
    on_output: Output,
    first_output_s: float | None,
) -> Execution:
    """`sandbox.execute` under the request's limits. Raises `Silent`, or `agent_missing`."""
    talking = asyncio.Event()

    def heard(stream: Literal["stdout", "stderr"], chunk: bytes) -> None:
        talking.set()
        on_output(stream, chunk)

    running = asyncio.create_task(
        sandbox.execute(
            argv,
            stdin=stdin,
            env=env,
            timeout_s=request.timeout_s,
            idle_s=request.idle_s,
            on_output=heard,
        )
    )
    try:
        if first_output_s is not None and not await _spoke(running, talking, first_output_s):
            raise Silent
        return await running
    except Environmental as error:
        if error.code != "executable_missing":
            raise
        raise Environmental(
            "agent_missing",
            f"The agent's program {argv[0]!r} cannot be run in the sandbox",
            hint="Install it where the agent's user can read it, or correct the agent's settings.",
            program=argv[0],
        ) from error
    finally:
        if not running.done():
            running.cancel()
            await asyncio.wait({running})


async def _spoke(running: asyncio.Task[Execution], talking: asyncio.Event, limit_s: float) -> bool:
    waiting = asyncio.create_task(talking.wait())
    try:
        done, _ = await asyncio.wait(
            {running, waiting}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED
        )
        return bool(done)
    finally:
        waiting.cancel()
