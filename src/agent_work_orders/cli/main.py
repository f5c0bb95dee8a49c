"""`awo`: the entry point. Commands are registered here and import what they need when they run."""

from __future__ import annotations

import sys
from typing import Any

import typer

from agent_work_orders.cli.commands import (
    agent_commands,
    approving,
    credentials,
    deliveries,
    demonstration,
    github,
    keeping,
    orders,
    run,
    safekeeping,
    sandboxes,
    serving,
    simulating,
    steering,
    transcripts,
    upkeep,
    workflows,
)
from agent_work_orders.cli.outcome import FAILED, REFUSED, Told, say

# Typer carries its own Click and gives this class no name.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="awo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Agent Work Orders: a repository and a piece of work in, a reviewed branch out.",
)

_WORK = "Work orders"
_PEOPLE = "Steering"
_KNOWN = "Workflows"
_MACHINE = "This machine"

for name, command, panel in (
    ("run", run.run, _WORK),
    ("list", orders.list_orders, _WORK),
    ("show", orders.show, _WORK),
    ("logs", orders.logs, _WORK),
    ("transcript", transcripts.transcript, _WORK),
    ("diff", orders.diff, _WORK),
    ("output", keeping.output, _WORK),
    ("artifacts", keeping.artifacts, _WORK),
    ("checkout", keeping.checkout, _WORK),
    ("prompt", steering.prompt, _PEOPLE),
    ("approve", approving.approve, _PEOPLE),
    ("reject", approving.reject, _PEOPLE),
    ("cancel", steering.cancel, _PEOPLE),
    ("pause", steering.pause, _PEOPLE),
    ("resume", steering.resume, _PEOPLE),
    ("retry", steering.retry, _PEOPLE),
    ("rollback", steering.rollback, _PEOPLE),
    ("override", steering.override, _PEOPLE),
    ("tools", workflows.tools, _KNOWN),
    ("up", serving.up, _MACHINE),
    ("open", serving.open_dashboard, _MACHINE),
    ("demo", demonstration.demo, _MACHINE),
    ("doctor", upkeep.doctor, _MACHINE),
    ("home", upkeep.show_home, _MACHINE),
    ("backup", safekeeping.back_up, _MACHINE),
    ("restore", safekeeping.restore, _MACHINE),
    ("version", upkeep.version, _MACHINE),
):
    app.command(name, rich_help_panel=panel)(command)
app.add_typer(workflows.app, name="workflow", rich_help_panel=_KNOWN)
app.add_typer(agent_commands.app, name="command", rich_help_panel=_KNOWN)
app.add_typer(sandboxes.app, name="sandbox", rich_help_panel=_PEOPLE)
app.add_typer(upkeep.keys, name="key", rich_help_panel=_MACHINE)
app.add_typer(credentials.app, name="credentials", rich_help_panel=_MACHINE)
app.add_typer(github.app, name="github", rich_help_panel=_MACHINE)
app.add_typer(upkeep.audit, name="audit", rich_help_panel=_MACHINE)
app.add_typer(deliveries.app, name="deliveries", rich_help_panel=_MACHINE)
app.add_typer(simulating.app, name="simulate", rich_help_panel=_MACHINE)


def main() -> None:
    try:
        code = app(prog_name="awo", standalone_mode=False)
    except UsageError as error:
        sys.exit(_misused(error))
    except typer.Abort:
        sys.exit(FAILED)
    sys.exit(code)


def _misused(error: Any) -> int:
    """Like every other refusal. A command that was only named shows its help."""
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        about = error.ctx.command_path if error.ctx is not None else "awo"
        told = Told("usage", " ".join(message.split()), hint=f"See `{about} --help`")
        say(told, as_json="--json" in sys.argv)
    return REFUSED
