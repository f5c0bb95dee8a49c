"""Options that many commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_work_orders.cli import completion

Home = Annotated[
    Path | None,
    typer.Option("--home", envvar="AWO_HOME", show_envvar=True, help="The data directory."),
]
Url = Annotated[
    str | None,
    typer.Option(
        "--url", envvar="AWO_URL", show_envvar=True, help="A server to talk to, if not this home's."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")]
Order = Annotated[
    str,
    typer.Argument(
        metavar="ORDER",
        help="An order's id, or any unique beginning of it.",
        autocompletion=completion.orders,
    ),
]
Detach = Annotated[
    bool, typer.Option("--detach", "-d", help="Do not wait for the end; needs a server.")
]
