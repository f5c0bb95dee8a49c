"""`awo transcript`: what an order's agents said and did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json, Looker, Target


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
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until it ends.")] = False,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show what an order's agent said and did, or where a text stands in it.

    With --json -f, one JSON document per line.
    """
    from agent_work_orders.cli.client import Target

    place = Target(home=home, url=url)
    if search is None:
        wait_for(lambda: read(place, order, task, as_json, follow=follow))
    else:
        wait_for(lambda: _look(place, order, task, search, as_json))


async def read(
    place: Target, wanted: str, task: str | None, as_json: bool, *, follow: bool = False
) -> None:
    """The whole transcript of a task, or of whichever task is at work until the order ends."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli import following
    from agent_work_orders.cli.outcome import Again

    told = PrintedTranscript(wanted, task, as_json=as_json, follow=follow)
    with following.Patience() as patience:
        while True:
            try:
                async with clients.looking(place) as client:
                    ended = not follow or await told.has_ended(client)
                    await told.more(client)
            except Again:
                if not told.begun:
                    raise
                ended = False
            if ended:
                told.close()
                return
            try:
                await patience.wait(following.EVERY_REMOTE_S)
            except following.Interrupted:
                raise KeyboardInterrupt from None


class PrintedTranscript:
    """How far a transcript was told."""

    def __init__(self, wanted: str, task: str | None, *, as_json: bool, follow: bool) -> None:
        from agent_work_orders.cli.screen import Screen

        self._wanted = wanted
        self._chosen = task
        self._as_json = as_json
        self._follow = follow
        self._screen = Screen(quiet=as_json)
        self._task: str | None = None
        self._after = 0
        self._page: Json = {}
        self._kept: list[Json] = []
        self._used: Json | None = None
        self.begun = False

    async def has_ended(self, client: Looker) -> bool:
        from agent_work_orders.cli.following import ENDED

        return bool((await client.order(self._wanted))["status"] in ENDED)

    async def more(self, client: Looker) -> None:
        """What came since. A task that has begun meanwhile is gone on with after this one."""
        while True:
            wanted = self._task if self._chosen is None else self._chosen
            page = await client.transcript(self._wanted, wanted, after=self._after)
            self._page = page
            if page["task"] != self._task or not self.begun:
                self._begin(page)
            for entry in page["entries"]:
                self._tell(entry)
            self._after = page["next_after"]
            if page["entries"]:
                continue
            tasks = page["tasks"]
            if self._chosen is not None or not tasks or tasks[-1] == self._task:
                return
            # The last one used stands last.
            self._task, self._after, self.begun = tasks[-1], 0, False

    def close(self) -> None:
        from agent_work_orders.cli.screen import print_json

        if self._as_json and not self._follow:
            print_json({**self._page, "entries": self._kept})

    def _begin(self, page: Json) -> None:
        self._task, self.begun, self._used = page["task"], page["task"] is not None, None
        if page["task"] is None and self._follow:
            return
        self._screen.heading(f"{page['task'] or 'no agent has begun yet'}")
        if len(page["tasks"]) > 1 and not self._follow:
            self._screen.line(f"Transcripts of this order: {', '.join(page['tasks'])}")

    def _tell(self, entry: Json) -> None:
        import sys

        from agent_work_orders.cli import entries
        from agent_work_orders.cli.screen import json_text

        if self._as_json:
            if self._follow:
                sys.stdout.write(json_text({"task": self._task, **entry}) + "\n")
                sys.stdout.flush()
            else:
                self._kept.append(entry)
            return
        self._used = entries.usage(entry) or self._used
        if entries.is_count(entry):
            return
        self._screen.marked(entry["kind"], entries.title(entry, self._used), indent=0, width=11)
        if body := entries.body(entry):
            self._screen.block(body)


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
