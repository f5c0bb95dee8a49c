"""Any program as an agent: this is how people plug in what we do not know.

The argv is a template. `{prompt_file}` becomes the path of a private file with the prompt,
`{prompt}` the prompt itself; both are replaced inside an element in one pass, and no shell is
involved. With neither, the prompt comes by stdin. Exit code 0 is success unless the program
reported an error itself; whether files changed is for the caller to see.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from agent_work_orders.agent_executor import claude_outcome, watch
from agent_work_orders.agent_executor import transcript as transcripts
from agent_work_orders.agent_executor.agent import AgentError, AgentRequest, Entry, Transcript, Turn
from agent_work_orders.agent_executor.command_output import Reader
from agent_work_orders.errors import Refused
from agent_work_orders.sandbox_manager.sandbox import Execution, Sandbox
from agent_work_orders.workflow_engine.events import Usage

# The kernel refuses a single argument of 128 KiB.
ARGUMENT_LIMIT_BYTES = 120_000

_PLACEHOLDER = re.compile(r"\{(prompt_file|prompt)\}")


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    argv: tuple[str, ...]
    env: dict[str, str] = {}
    """Plain settings of the program. Part of the order, so no place for a secret."""
    first_output_s: float | None = None
    """None: a program may work in silence as long as the idle limit lets it."""


class CommandAgent:
    name = "command"
    scripted = False

    def __init__(self, options: Options) -> None:
        if not options.argv or not options.argv[0] or _PLACEHOLDER.search(options.argv[0]):
            raise Refused(
                "agent_option_invalid",
                "The command agent needs an argv whose first element is a program",
                hint="For example: my-agent --task {prompt_file}",
                field="argv",
            )
        if any("\0" in element for element in options.argv):
            raise Refused(
                "agent_option_invalid",
                "An argv cannot contain NUL",
                hint="Remove the NUL character.",
                field="argv",
            )
        self._options = options

    def check(self) -> str | None:
        return None  # the program is looked up inside the sandbox, at the turn

    async def run(
        self,
        request: AgentRequest,
        sandbox: Sandbox,
        *,
        transcript: Transcript,
        env: Mapping[str, str] | None = None,
        previous_cost_usd: float | None = None,
    ) -> Turn:
        say = transcripts.limited(transcript)
        say(Entry(kind="prompt", text=request.prompt))
        prompt = composed(request)
        argv, stdin = await self._given(prompt, request, sandbox)
        if (problem := _unfit(argv)) is not None:
            say(Entry(kind="error", text=problem.message))
            return Turn(ok=False, error=problem)
        out, err = Reader(), Reader(source="stderr")

        def heard(stream: Literal["stdout", "stderr"], chunk: bytes) -> None:
            for entry in (out if stream == "stdout" else err).feed(chunk):
                say(entry)

        try:
            execution = await watch.execute(
                sandbox,
                argv,
                request=request,
                stdin=stdin,
                env={"AWO_COMMAND": request.command or ""} | self._options.env | dict(env or {}),
                on_output=heard,
                first_output_s=self._options.first_output_s,
            )
        except watch.Silent:
            error = claude_outcome.silent(self._options.first_output_s or 0.0)
            return Turn(ok=False, error=error)
        finally:
            for entry in (*out.close(), *err.close()):
                say(entry)
        turn = finished(out, err, execution, request.timeout_s)
        if turn.error is not None:
            say(Entry(kind="error", text=turn.error.message, data={"kind": turn.error.kind}))
        return turn

    async def _given(
        self, prompt: str, request: AgentRequest, sandbox: Sandbox
    ) -> tuple[list[str], bytes]:
        asked = {name for part in self._options.argv for name in _PLACEHOLDER.findall(part)}
        content = prompt.encode("utf-8", "replace")
        values = {"prompt": prompt}
        if "prompt_file" in asked:
            name = f"prompt-{request.command_call}.md"
            values["prompt_file"] = await sandbox.put_private(name, content)
        argv = [_PLACEHOLDER.sub(lambda m: values[m[1]], part) for part in self._options.argv]
        return argv, b"" if asked else content


def composed(request: AgentRequest) -> str:
    """Instructions and lost history stand before the task: one text is all a program gets."""
    instructions = f"{request.instructions}\n\n" if request.instructions else ""
    return f"{instructions}{request.history}{request.prompt}"


def finished(out: Reader, err: Reader, execution: Execution, timeout_s: float) -> Turn:
    result = out.result
    error = claude_outcome.limit_error(execution, timeout_s)
    if error is None and result is not None:
        error = result.failure(execution.exit_code)
    error = error or claude_outcome.exit_by_signal(execution)
    if error is None and execution.exit_code != 0:
        last = (err.text or out.text)[-500:]
        message = f"the agent exited with {execution.exit_code}" + (f": {last}" if last else "")
        error = AgentError(kind="exit_code", message=message, exit_code=execution.exit_code)
    usage = Usage(unpriced_turns=1)  # what a program costs is known only if it says so
    if result is not None:
        usage = Usage(
            cost_usd=max(0.0, result.cost_usd or 0.0),
            input_tokens=max(0, result.input_tokens),
            output_tokens=max(0, result.output_tokens),
            turns=max(0, result.turns),
            unpriced_turns=max(1, result.turns) if result.cost_usd is None else 0,
        )
    return Turn(
        ok=error is None,
        text=out.text,
        session_id=result.session_id if result is not None else None,
        usage=usage,
        error=error,
        saw_end=result is not None,
    )


def _unfit(argv: list[str]) -> AgentError | None:
    too_long = any(len(part.encode("utf-8", "replace")) > ARGUMENT_LIMIT_BYTES for part in argv)
    if too_long or any("\0" in part for part in argv):
        return AgentError(
            kind="invalid_request",
            message="the prompt does not fit in an argument: use {prompt_file} or stdin",
        )
    return None
