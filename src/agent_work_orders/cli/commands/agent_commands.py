"""`awo command …`: what agents can be told by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json

app = typer.Typer(no_args_is_help=True, help="List and show commands for agents.")

Repo = Annotated[
    str | None,
    typer.Option(
        "--repo",
        metavar="URL_OR_PATH",
        help="The repository.  [default: the one around the current directory, if any]",
    ),
]
Base = Annotated[
    str | None,
    typer.Option("--base", metavar="BRANCH", help="Its trusted branch; else the default one."),
]


@app.command("list")
@guarded
def list_commands(
    repo: Repo = None,
    base: Base = None,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """List the commands there are: built-in ones and the repository's .claude/commands.

    Files that cannot be used are listed with their line and a hint.
    """
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> Json:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await client.commands(_repository(repo, base), base)

    found = wait_for(ask)
    if as_json:
        print_json(found)
        return
    screen = Screen()
    rows = [
        [f"/{one['name']}", one["origin"], _arguments(one), one["description"]]
        for one in found["commands"]
    ]
    screen.table(["command", "origin", "arguments", "description"], rows)
    for problem in found["problems"]:
        screen.marked("error", f"{problem['file']}:{problem['line']}: {problem['message']}")
        screen.marked("", problem["hint"])


@app.command("show")
@guarded
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="With or without its /.")],
    repo: Repo = None,
    base: Base = None,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show a command: where it is from, its arguments and its text."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> Json:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await client.command(name.removeprefix("/"), _repository(repo, base), base)

    found = wait_for(ask)
    if as_json:
        print_json({"command": found})
        return
    screen = Screen()
    screen.heading(f"/{found['name']}")
    screen.pairs(
        [
            ("description", found["description"]),
            ("origin", found["origin"]),
            ("file", found["file"]),
            ("arguments", _arguments(found)),
            ("aliases", ", ".join(found["aliases"])),
            ("asks for", ", ".join(found["allowed_tools"])),
            ("model", found["model"]),
        ]
    )
    screen.line()
    screen.block(found["body"])


def _repository(given: str | None, base: str | None) -> str | None:
    """As given; without one, where the person stands."""
    from agent_work_orders.cli import request
    from agent_work_orders.cli.outcome import Told

    try:
        return request.repository(given)
    except Told:
        if base is not None:
            raise
        return None


def _arguments(command: Json) -> str:
    """The author's own words, else what the text reads."""
    if command["argument_hint"]:
        return str(command["argument_hint"])
    if command["positions"]:
        return " ".join(f"[{number + 1}]" for number in range(min(command["positions"], 9)))
    return "[…]" if command["takes_arguments"] else ""
