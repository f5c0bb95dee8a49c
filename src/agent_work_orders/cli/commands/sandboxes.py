"""`awo sandbox …`: where agents work, and a way in for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import completion, options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from agent_work_orders.cli.client import Json
    from agent_work_orders.cli.screen import Screen

app = typer.Typer(
    no_args_is_help=True,
    help="List, look into and remove the sandboxes that orders work in.",
)
Wanted = Annotated[
    str,
    typer.Argument(
        metavar="ID|ORDER",
        help="A sandbox's id, or an order's: then that of its agents.",
        autocompletion=completion.sandboxes,
    ),
]
_THERE = ("PROVISIONING", "ACTIVE")


@app.command("list")
@guarded
def list_sandboxes(
    every: Annotated[bool, typer.Option("--all", help="Also those that are gone.")] = False,
    order: Annotated[
        str | None,
        typer.Option(
            "--order",
            metavar="ORDER",
            help="Only those of this order.",
            autocompletion=completion.orders,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="How many.")] = 50,
    offset: Annotated[int, typer.Option("--offset", min=0, help="How many to leave out.")] = 0,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """List the sandboxes there are, newest first."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> Json:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await client.sandboxes(
                status=() if every else _THERE, order_id=order, limit=limit, offset=offset
            )

    found = wait_for(ask)
    if as_json:
        print_json(found)
        return
    screen = Screen()
    if not found["sandboxes"]:
        screen.line("There is none." if every else "There is none now; --all shows earlier ones.")
        return
    rows = [
        [one["id"], _state(one), one["created_at"][:19], one["agent_work_order_id"]]
        for one in found["sandboxes"]
    ]
    screen.table(["sandbox", "state", "made", "order"], rows)
    if found["has_more"]:
        screen.line(f"{len(rows)} of {found['total_count']}; --limit and --offset show the others.")


@app.command("show")
@guarded
def show(
    sandbox: Wanted,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show a sandbox: its state, size, and what it was last checked out at."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> Json:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await client.sandbox(sandbox)

    found = wait_for(ask)
    if as_json:
        print_json({"sandbox": found})
        return
    screen = Screen()
    screen.marked(_state(found), found["id"], indent=0)
    size = found["disk_bytes"]
    screen.pairs(
        [
            ("order", found["agent_work_order_id"]),
            ("part", found["part"]),
            ("type", found["sandbox_type"]),
            ("container", found["container_id"]),
            ("commit", found["head_sha"]),
            ("size", None if size is None else f"{size / 1_048_576:.1f} MiB"),
            ("made", found["created_at"]),
            ("expires" if found["status"] in _THERE else "ended", found["expires_at"]),
        ]
    )


@app.command("destroy")
@guarded
def destroy(
    sandbox: Wanted,
    force: Annotated[
        bool, typer.Option("--force", help="Also when a task works in it, which then fails.")
    ] = False,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """End what runs in a sandbox and remove it. What is not committed is kept first.

    `awo checkout ORDER` has what was kept, and the order goes on in a new sandbox.
    """
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json, short

    async def ask() -> Json:
        place = clients.Target(home=home, url=url)
        async with clients.acting(place, None, hands=False) as client:
            return await client.destroy_sandbox(sandbox, force=force)

    done = wait_for(ask)
    if as_json:
        print_json(done)
        return
    screen = Screen()
    screen.marked("ok", f"{done['message']}: {done['sandbox']['id']}", indent=0)
    if done["kept_sha"]:
        order = short(done["sandbox"]["agent_work_order_id"])
        screen.pairs(
            [("kept", f"{done['kept_sha'][:12]}: awo checkout {order} · awo diff {order}")]
        )


@app.command("exec")
@guarded
def execute(
    order: options.Order,
    argv: Annotated[
        list[str], typer.Argument(metavar="-- ARGV…", help="The program and its arguments.")
    ],
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", metavar="SECONDS", min=0.1, max=86_400, help="The longest it may run."
        ),
    ] = 300.0,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Run a program in an order's sandbox, as its agents would. Exits as the program does.

    While no task of the order works in it. Of an order whose sandbox is gone one is made of what is
    kept of its work, for this program alone. A program that a signal ended exits 128 + its number,
    one that ran out of time 124.
    """
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli import program_output as printed
    from agent_work_orders.cli.screen import print_json

    printing = printed.Kept() if as_json else printed.Printer()

    async def ask() -> Json:
        place = clients.Target(home=home, url=url)
        async with clients.acting(place, None, hands=False) as client:
            return await client.run_program(order, argv, timeout, printing)

    done = wait_for(ask)
    if isinstance(printing, printed.Kept):
        print_json({**done, **printing.texts()})
    else:
        printed.tell(done, timeout)
    raise typer.Exit(printed.exit_code(done))


@app.command("shell")
@guarded
def shell(
    order: options.Order,
    argv: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- ARGV…]", help="Another program than a shell."),
    ] = None,
    home: options.Home = None,
    url: options.Url = None,
) -> None:
    """Open a terminal in an order's sandbox, as its agents' user. Exits as the shell does.

    While no task of the order works in it: pause the order first. Tasks wait until you leave. Of an
    order whose sandbox is gone one is made of what is kept of its work, and is removed when you
    leave.
    """
    from agent_work_orders import settings as setting
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli import program_output as printed
    from agent_work_orders.cli.keyboard import Keyboard

    setting.load(home=home)
    keyboard = Keyboard()

    async def ask() -> Json:
        place = clients.Target(home=home, url=url)
        async with clients.acting(place, None, hands=False) as client:
            return await client.run_terminal(order, argv or [], keyboard)

    done = wait_for(ask)
    printed.tell(done, 0)
    raise typer.Exit(printed.exit_code(done))


@app.command("matrix")
@guarded
def matrix(
    home: options.Home = None, url: options.Url = None, as_json: options.Json = False
) -> None:
    """Show what each type of sandbox keeps apart on this machine, and which can be made."""
    from agent_work_orders.cli.screen import Screen, print_json

    found = wait_for(lambda: _types(home, url))
    if as_json:
        print_json({"sandbox_types": found})
        return
    screen = Screen()
    there = [one for one in found if one["isolation"] is not None]
    rows = [
        [one["name"], "no" if one["problem"] else "yes", one["isolation"]["summary"]]
        for one in there
    ]
    screen.table(["type", "works here", "what it is for"], rows)
    for one in there:
        _isolation(screen, one)
    later = [one["name"] for one in found if one["isolation"] is None]
    if later:
        screen.line()
        screen.line(f"Named, and not there yet: {', '.join(later)}.")


async def _types(home: Path | None, url: str | None) -> list[Json]:
    """Those of the server that answers, else of this machine."""
    from agent_work_orders import settings as setting
    from agent_work_orders.api import views
    from agent_work_orders.bootstrap import open_trial
    from agent_work_orders.cli import client as clients
    from agent_work_orders.sandbox_manager.sandbox_types import SANDBOX_TYPES
    from agent_work_orders.work_orders import sandboxes

    place, settings = clients.Target(home=home, url=url), setting.load(home=home)
    server = clients.server_of(place, settings)
    if server is not None:
        async with clients.remote(place, server, settings) as client:
            return await client.sandbox_types()
    async with open_trial(settings) as trial:
        rows = await sandboxes.types(trial, SANDBOX_TYPES)
    return views.sandbox_types(rows, settings.orders.default_sandbox)


def _isolation(screen: Screen, one: Json) -> None:
    screen.line()
    screen.heading(one["name"] + (" (default)" if one["default"] else ""))
    said = one["isolation"]
    rows = [(name, said[name]) for name in ("files", "processes", "network", "credentials")]
    screen.pairs([*rows, ("problem", one["problem"]), ("hint", one["hint"])])


def _state(one: Json) -> str:
    return "in use" if one["in_use"] else str(one["status"]).lower()
