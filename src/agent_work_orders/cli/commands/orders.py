"""Looking at orders: list, show, logs, diff. Nothing is started by looking."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import completion, options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json, Looker, Target
    from agent_work_orders.cli.patch import Patch
    from agent_work_orders.cli.screen import Screen


Status = Annotated[
    list[str] | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help="Only these; may be repeated.",
        autocompletion=completion.statuses,
    ),
]
Workflow = Annotated[
    str | None,
    typer.Option(
        "--workflow",
        metavar="NAME",
        help="Only of this workflow.",
        autocompletion=completion.workflows,
    ),
]


@guarded
def list_orders(
    status: Status = None,
    repo: Annotated[
        str | None, typer.Option("--repo", metavar="URL_OR_PATH", help="Only of this repository.")
    ] = None,
    workflow: Workflow = None,
    search: Annotated[
        str | None, typer.Option("--search", metavar="TEXT", help="In id, prompt, branch, issue.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="At most so many.")] = 50,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Leave out so many first.")] = 0,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """List work orders, newest first."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    _check_status(status or [])
    wanted = {
        "status": tuple(status or ()),
        "repository": None if repo is None else _repository_key(repo),
        "workflow": workflow,
        "text": search,
        "limit": limit,
        "offset": offset,
    }

    async def ask() -> Json:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await client.orders(**wanted)

    page = wait_for(ask)
    if as_json:
        print_json(page)
        return
    rows = [_row(order) for order in page["agent_work_orders"]]
    screen = Screen()
    if not rows:
        screen.line('No work orders. Start one with: awo run --repo PATH "What to do"')
        return
    screen.table(
        ["order", "status", "tests", "phase", "created (UTC)", "repository", "title"], rows
    )
    _tell_resting(page["agent_work_orders"], clients.Target(home=home, url=url), screen)
    if page["has_more"]:
        screen.line(
            f"{len(rows)} of {page['total_count']}; more with --offset {offset + len(rows)}"
        )


def _row(order: Json) -> list[str]:
    from agent_work_orders.cli.screen import first_line, short

    return [
        short(order["agent_work_order_id"]),
        _status_of(order),
        order.get("verification") or "",
        order["current_phase"] or "",
        order["created_at"][:19].replace("T", " "),
        order["repository_url"].rstrip("/").rsplit("/", 1)[-1],
        first_line(order["title"] or order["initial_prompt"] or order["workflow_type"], 60),
    ]


def _tell_resting(orders: list[Json], place: Target, screen: Screen) -> None:
    """An order that is open while nobody works on it looks alive, but rests."""
    from agent_work_orders import settings as setting
    from agent_work_orders.cli.client import server_of
    from agent_work_orders.state_manager.lock import read_owner

    settings = setting.load(home=place.home)
    if server_of(place, settings) is not None or read_owner(settings.home) is not None:
        return
    resting = [one for one in orders if one["status"] in ("pending", "running", "waiting")]
    if resting:
        screen.line("Nothing runs here now: open orders go on with `awo up` or `awo resume ORDER`.")


@guarded
def show(
    order: options.Order,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show a work order: its state, tasks, commits, questions and result."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> tuple[Json, list[Json], list[Json]]:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            found = await client.order(order)
            order_id = found["agent_work_order_id"]
            return found, await client.tasks(order_id), await client.approvals(order_id)

    found, tasks, questions = wait_for(ask)
    if as_json:
        print_json({"agent_work_order": found, "tasks": tasks, "approvals": questions})
        return
    screen = Screen()
    _show(found, tasks, questions, screen)
    _tell_resting([found], clients.Target(home=home, url=url), screen)


def _show(order: Json, tasks: list[Json], questions: list[Json], screen: Screen) -> None:
    from agent_work_orders.cli.commands.run import introduce
    from agent_work_orders.cli.conduct import report, show_question
    from agent_work_orders.cli.following import describe, is_work, waits_for
    from agent_work_orders.cli.screen import first_line, state_word
    from agent_work_orders.cli.spending import task_lines

    introduce(
        order,
        screen,
        [
            ("issue", order["github_issue_number"]),
            ("base", order["base_branch"]),
            ("priority", order["priority"]),
            ("prompt", first_line(order["initial_prompt"] or "", 200)),
            ("created", f"{order['created_at']} by {order['created_by']}"),
            ("phase", order["current_phase"]),
            ("waits for", waits_for(order)),
            ("until", order["waiting_until"]),
        ],
    )
    screen.line()
    screen.heading("Tasks")
    for task in tasks:
        if is_work(task):
            screen.marked(state_word(task["state"]), describe(task))
            for line in task_lines(task):
                screen.line(line, indent=6)
    for question in questions:
        screen.line()
        show_question(question, screen)
    report(order, tasks, screen)


@guarded
def logs(
    order: options.Order,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until it ends.")] = False,
    level: Annotated[
        str | None, typer.Option("--level", help="Only debug, info, warning or error.")
    ] = None,
    transcript: Annotated[
        bool, typer.Option("--transcript", help="What the agent said, instead of the log.")
    ] = False,
    task: Annotated[
        str | None,
        typer.Option(
            "--task", metavar="TASK", help="With --transcript: whose.  [default: the last]"
        ),
    ] = None,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show an order's log, or with --transcript what its agent said.

    With --json -f, one JSON document per line.
    """
    from agent_work_orders.cli.client import Target
    from agent_work_orders.cli.commands import transcripts
    from agent_work_orders.cli.outcome import Told

    if level not in (None, "debug", "info", "warning", "error"):
        raise Told(
            "level_invalid", f"{level!r} is not a level", hint="debug, info, warning or error",
            field="--level",
        )  # fmt: skip
    place = Target(home=home, url=url)
    if transcript:
        wait_for(lambda: transcripts.read(place, order, task, as_json, follow=follow))
    else:
        wait_for(lambda: _logs(place, order, level, follow, as_json))


async def _logs(place: Target, wanted: str, level: str | None, follow: bool, as_json: bool) -> None:
    import asyncio

    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli import following
    from agent_work_orders.cli.outcome import Again
    from agent_work_orders.cli.screen import Screen, print_json

    screen = Screen()
    seen = 0
    collected: list[Json] = []
    over = False
    with following.Patience() as patience:
        while True:
            try:
                async with clients.looking(place) as client:
                    order = await client.order(wanted)
                    order_id = str(order["agent_work_order_id"])
                    entries = await _more(client, order_id, seen, level)
            except Again:
                if not seen:
                    raise
                # The owner has just gone: what it did is read from its directory.
                await asyncio.sleep(following.EVERY_REMOTE_S)
                continue
            seen += len(entries)
            if as_json and not follow:
                collected += entries
            else:
                _print_entries(entries, screen, as_json)
            # Lines are written a moment after what they tell of: the last ones are waited for.
            if not follow or over:
                break
            over = order["status"] in following.ENDED
            try:
                await patience.wait(following.EVERY_REMOTE_S)
            except following.Interrupted:
                raise KeyboardInterrupt from None
    if as_json and not follow:
        print_json(
            {
                "agent_work_order_id": order_id,
                "log_entries": collected,
                "total_count": len(collected),
                "has_more": False,
            }
        )


async def _more(client: Looker, order_id: str, seen: int, level: str | None) -> list[Json]:
    found: list[Json] = []
    while True:
        page = await client.logs(order_id, limit=500, offset=seen + len(found), level=level)
        found += page["log_entries"]
        if not page["has_more"]:
            return found


_FIXED = ("timestamp", "level", "event", "agent_work_order_id", "n")


def _print_entries(entries: list[Json], screen: Screen, as_json: bool) -> None:
    from agent_work_orders.cli.screen import json_text

    for entry in entries:
        if as_json:
            sys.stdout.write(json_text(entry) + "\n")
            sys.stdout.flush()
            continue
        more = "  ".join(
            f"{name}={value}" for name, value in entry.items()
            if name not in _FIXED and value is not None
        )  # fmt: skip
        text = f"{entry['timestamp'][11:23]}  {entry['event']}  {more}"
        screen.marked(str(entry["level"]), text, indent=0, width=7)


@guarded
def diff(
    order: options.Order,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show what an order has changed so far, as a patch.

    On a terminal, control and invisible characters are shown as marks such as ⟨U+202E⟩. In a pipe
    or a file the patch is as it is, for `git apply` and its like. What an agent had made that
    failed or ran out of time is in it.
    """
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.outcome import FAILED, Told
    from agent_work_orders.cli.screen import Screen, clean, print_json

    async def ask() -> Patch:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await client.patch(order)

    found = wait_for(ask)
    if as_json:
        print_json(
            {
                "agent_work_order_id": found.order_id,
                "diff": found.content.decode("utf-8", "replace"),
                "truncated": found.truncated,
                "unfinished_task": found.unfinished_task,
            }
        )
        return
    if found.unfinished_task is not None:
        sys.stderr.write(
            f"note: with what {clean(found.unfinished_task)} had not finished when it failed; it "
            "is kept, and on no branch.\n"
        )
    if not found.content:
        sys.stderr.write("No changes yet.\n")
        return
    Screen().patch(found.content)
    if found.truncated:
        raise Told(
            "patch_too_large",
            "The patch is longer than what is shown here, and cannot be applied",
            hint=f"`awo checkout {found.order_id[:11]}` gives the whole work as files",
            exit_code=FAILED,
        )


def _status_of(order: Json) -> str:
    from agent_work_orders.cli.following import waits_for

    reason = waits_for(order)
    status = str(order["status"])
    return f"{status}: {reason}" if reason and status == "waiting" else status


def _check_status(given: list[str]) -> None:
    from agent_work_orders.cli.outcome import Told

    for one in given:
        if one not in completion.STATUSES:
            raise Told(
                "status_invalid",
                f"{one!r} is not a status",
                hint=", ".join(completion.STATUSES),
                field="--status",
            )


def _repository_key(given: str) -> str:
    from agent_work_orders.cli.request import repository
    from agent_work_orders.repositories import url

    return url.parse(repository(given)).key
