"""`sandbox.exec`: run a program in the order's workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_work_orders.errors import Permanent
from agent_work_orders.tools.schema import fields, flag, integer, nullable, text, texts
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.tools.workspaces import Workspaces
from agent_work_orders.workflow_engine.catalogue import ToolInfo

SHOWN_BYTES = 16 * 1024


class Exec:
    info = ToolInfo(
        name="sandbox.exec",
        summary="Run a program in the workspace (argv, never a shell line)",
        inputs=fields(
            ("argv",),
            argv=texts("The program and its arguments", minItems=1),
            env={"type": "object", "description": "Further environment variables, as text"},
            check=flag("Fail the task when the program fails", default=True),
        ),
        outputs=fields(
            exit_code=nullable(integer("Its exit code; null when a signal or a limit ended it")),
            stdout=text("The end of what it printed"),
            stderr=text("The end of what it printed as errors"),
            success=flag("Whether it exited with 0"),
        ),
    )

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        argv: list[str],
        env: dict[str, str] | None = None,
        check: bool = True,
    ) -> JsonObject:
        check_command(argv, env or {})
        async with self._workspaces.share(ctx) as workspace:
            done = await workspace.sandbox.execute(argv, env=env, timeout_s=ctx.timeout_s)
        ctx.log("sandbox_command_executed", command=argv[0], exit_code=done.exit_code)
        outputs: JsonObject = {
            "exit_code": done.exit_code,
            "stdout": end_of_output(done.stdout),
            "stderr": end_of_output(done.stderr),
            "success": done.success,
        }
        if done.ended == "timed_out":
            ctx.keep(outputs)
            raise Permanent(
                "command_timeout",
                f"{argv[0]} took longer than {ctx.timeout_s:g} s and was stopped",
                hint="Give the task a larger `timeout`, or find out what it waits for.",
            )
        if check and not done.success:
            ctx.keep(outputs)
            how = f"exit code {done.exit_code}" if done.exit_code is not None else done.ended
            raise Permanent(
                "command_failed",
                f"{argv[0]} failed ({how})",
                hint="Read its output in the task; set `check: false` to go on regardless.",
            )
        return outputs


def check_command(argv: list[Any], env: Mapping[str, Any]) -> None:
    """What no system can start is the workflow's fault, whatever a template made of it."""
    words = [*argv, *env, *env.values()]
    text = all(isinstance(word, str) and "\0" not in word for word in words)
    if not argv or not argv[0] or not text or any("=" in name or not name for name in env):
        raise Permanent(
            "command_invalid",
            "A command is a list of texts that starts with a program; its environment is text too",
            hint="Check what the templates of the task's inputs give.",
        )


def end_of_output(output: bytes) -> str:
    """The end of an output as text."""
    cut = output[-SHOWN_BYTES:]
    return cut.decode("utf-8", "replace")
