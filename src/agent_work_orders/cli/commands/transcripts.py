"""`awo transcript`: what an order's agents said and did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json, Target


@guarded
def transcript(
    order: options.Order,
    task: Annotated[
        str | None,
        typer.Option(
            "--task", metavar="TASK", help="Whose.  [default: the last; all with --search]"
        ),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option("--search", metavar="TEXT", help="Only where this stands, in either case."),
    ] = None,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show what an order's agent said and did, or where a text stands in it."""
    from agent_work_orders.cli.client import Target

    place = Target(home=home, url=url)
    if search is None:
        wait_for(lambda: read(place, order, task, as_json))
    else:
        wait_for(lambda: _look(place, order, task, search, as_json))


async def read(place: Target, wanted: str, task: str | None, as_json: bool) -> None:
    """The whole transcript of a task."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    entries: list[Json] = []
    async with clients.looking(place) as client:
        page = await client.transcript(wanted, task)
        while page["entries"]:
            entries += page["entries"]
            page = await client.transcript(wanted, page["task"], after=page["next_after"])
    if as_json:
        print_json({**page, "entries": entries})
        return
    screen = Screen()
    others = ", ".join(page["tasks"])
    screen.heading(f"{page['task'] or 'no agent has begun yet'}")
    if len(page["tasks"]) > 1:
        screen.line(f"Transcripts of this order: {others}")
    for entry in entries:
        if "meter" in entry["data"]:
            continue  # for the server's own counting, many times a turn
        screen.marked(entry["kind"], "", indent=0)
        screen.block(entry["text"])


async def _look(place: Target, wanted: str, task: str | None, text: str, as_json: bool) -> None:
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async with clients.looking(place) as client:
        page = await client.transcript(wanted, task, search=text)
    if as_json:
        print_json(page)
        return
    screen = Screen()
    for match in page["matches"]:
        screen.marked(match["kind"], f"{match['task']}  {match['excerpt']}", indent=0, width=11)
    if not page["matches"]:
        screen.line("Nothing found.")
    if page["has_more"]:
        screen.line("There is more; look for a longer text, or in one task with --task.")
