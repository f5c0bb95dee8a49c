"""How a command ends: its exit code, and one clear line when something is wrong.

0 done, the order completed · 1 the order failed or was cancelled, or the operation failed ·
2 refused: nothing was changed · 3 the order waits for a person · 130 interrupted.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import typer

OK = 0
FAILED = 1
REFUSED = 2
WAITING = 3
INTERRUPTED = 130
# A command that owns the directory answers after a second, and closes within four; a server that
# starts over a long journal may need longer, and is then named.
OWNER_CHANGES_WITHIN_S = 15.0

_PACKAGE = "agent_work_orders/"
Command = TypeVar("Command", bound=Callable[..., None])
Result = TypeVar("Result")


class Told(Exception):
    """A failure that a server told us, or that the command line itself found."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        field: str | None = None,
        exit_code: int = REFUSED,
        problems: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.field = field
        self.exit_code = exit_code
        self.problems = problems


class Again(Told):
    """Who owns the data directory has just changed, and nothing was done: ask once more."""


def guarded(command: Command) -> Command:
    """Every failure of a command becomes a line and an exit code, never a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (typer.Exit, typer.Abort, SystemExit):
            raise
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _leave_quietly()
            raise typer.Exit(OK) from None
        except Exception as error:
            # The border of the process: told, not thrown.
            if os.environ.get("AWO_DEBUG"):
                raise
            told = explain(error)
            say(told, as_json=bool(kwargs.get("as_json")))
            raise typer.Exit(told.exit_code) from None

    return run  # type: ignore[return-value]


def wait_for(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a command's asynchronous part; from its beginning when the directory's owner changed
    before anything was done. asyncio alone would double the time of `--help`."""
    import asyncio

    until_s = time.monotonic() + OWNER_CHANGES_WITHIN_S
    while True:
        try:
            return asyncio.run(work())
        except Again:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.1)


def explain(error: BaseException) -> Told:
    from agent_work_orders import errors

    if isinstance(error, Told):
        return error
    if isinstance(error, errors.Refused):
        later = isinstance(error, errors.Unavailable | errors.TooMany)
        return Told(
            error.code,
            error.message,
            hint=error.hint,
            field=error.field,
            exit_code=FAILED if later else REFUSED,
            problems=tuple(_problem(row) for row in error.context.get("problems", ())),
        )
    if isinstance(error, errors.AgentWorkOrdersError):
        return Told(error.code, error.message, hint=error.hint, exit_code=FAILED)
    # Libraries quote what they were given, and that may be a secret: only its kind and its place.
    why = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
    return Told(
        "internal",
        f"{type(error).__name__}{why}{_place(error)}",
        hint="This should not happen; AWO_DEBUG=1 shows all of it",
        exit_code=FAILED,
    )


def _place(error: BaseException) -> str:
    """The last of our lines that it came through."""
    import traceback

    ours = [one for one in traceback.extract_tb(error.__traceback__) if _PACKAGE in one.filename]
    return f" at {ours[-1].filename.rpartition(_PACKAGE)[2]}:{ours[-1].lineno}" if ours else ""


def say(told: Told, *, as_json: bool) -> None:
    """The failure on stderr; as a document on stdout too when JSON was asked for."""
    from agent_work_orders.cli.screen import clean, print_json

    field = f" [{_flag(told.field)}]" if told.field else ""
    hint = f" ({told.hint.rstrip('.')})" if told.hint else ""
    lines = [f"error: {told.message.rstrip('.')}{field}{hint}"]
    if told.problems:
        lines = [f"error: {problem}" for problem in told.problems]
    for line in lines:
        sys.stderr.write(clean(line) + "\n")
    if as_json:
        body = {"code": told.code, "message": told.message, "hint": told.hint, "field": told.field}
        print_json({"error": {**body, "problems": list(told.problems)}})


_FLAGS = {
    "AWO_HOME": "--home or AWO_HOME",
    "repository_url": "--repo",
    "workflow_type": "--workflow",
    "workflow_source": "--workflow",
    "sandbox_type": "--sandbox",
    "github_issue_number": "--issue",
    "base_branch": "--base",
    "priority": "--priority",
    "agent": "--agent",
    "agent_timeout_s": "--timeout",
    "argv": "--agent-command",
    "script": "--agent-script",
    "model": "--model",
    "initial_prompt": "PROMPT",
    "prompt_text": "PROMPT",
}


def _flag(field: str) -> str:
    """What the field is called on the command line."""
    if field.startswith("inputs."):
        return f"--input {field.removeprefix('inputs.')}"
    return _FLAGS.get(field, field)


def _problem(row: Any) -> str:
    if not isinstance(row, dict):
        return str(row)
    hint = f" ({row['hint'].rstrip('.')})" if row.get("hint") else ""
    return f"{row.get('file')}:{row.get('line')}:{row.get('column')}: {row.get('message')}{hint}"


def _leave_quietly() -> None:
    """The reader of a pipe has gone: nobody is left to tell."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
