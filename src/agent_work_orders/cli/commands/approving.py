"""`awo approve` and `awo reject`: a decision about exactly what was shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import completion, options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Client, Json, Target
    from agent_work_orders.cli.conduct import Begin

Which = Annotated[
    str | None,
    typer.Argument(
        metavar="[APPROVAL|ORDER]",
        help="An approval's id, or an order with one open approval. Without it, lists them.",
        autocompletion=completion.orders,
    ),
]
Comment = Annotated[str, typer.Option("--comment", "-m", help="Why.")]
Hash = Annotated[
    str | None,
    typer.Option("--hash", help="Decide only if this is still what is asked (see `awo show`)."),
]


@guarded
def approve(
    which: Which = None,
    comment: Comment = "",
    subject_hash: Hash = None,
    detach: options.Detach = False,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Approve what an order asks, and go on with it. Shows exactly what is approved."""
    _decide(which, True, comment, subject_hash, home, url, as_json=as_json, detach=detach)


@guarded
def reject(
    which: Which = None,
    comment: Comment = "",
    subject_hash: Hash = None,
    detach: options.Detach = False,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Reject what an order asks. Exits 0 when the rejection was taken."""
    _decide(which, False, comment, subject_hash, home, url, as_json=as_json, detach=detach)


def _decide(
    which: str | None,
    approved: bool,
    comment: str,
    subject_hash: str | None,
    home: Path | None,
    url: str | None,
    *,
    as_json: bool,
    detach: bool,
) -> None:
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli import conduct
    from agent_work_orders.cli.screen import Screen, print_json

    place = clients.Target(home=home, url=url)
    if which is None:
        _list(place, as_json)
        return
    if detach:
        clients.need_server(place, "--detach")
    question = wait_for(lambda: _find(place, which))
    screen = Screen(quiet=as_json)
    conduct.show_question(question, screen)

    async def begin(client: Client) -> Json:
        await client.decide(
            question["approval_id"],
            approved=approved,
            comment=comment,
            subject_hash=subject_hash or question["subject_hash"],
        )
        screen.marked("approved" if approved else "rejected", question["approval_id"], indent=0)
        return {"agent_work_order_id": order_id}

    order_id = question["agent_work_order_id"]
    if detach:
        order = wait_for(lambda: _ask(place, order_id, begin))
        if as_json:
            print_json({"agent_work_order": order})
        return
    code = wait_for(lambda: conduct.conduct(place, order_id, begin, as_json=as_json, screen=screen))
    # A rejection that ended the order is what was wanted.
    raise typer.Exit(0 if not approved and code == 1 else code)


async def _ask(place: Target, order_id: str, begin: Begin) -> Json:
    from agent_work_orders.cli import client as clients

    async with clients.acting(place, order_id, hands=True) as client:
        await begin(client)
        return await client.order(order_id)


def _list(place: Target, as_json: bool) -> None:
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, first_line, print_json

    async def ask() -> list[Json]:
        async with clients.looking(place) as client:
            return await client.approvals()

    found = wait_for(ask)
    if as_json:
        print_json({"approvals": found})
        return
    screen = Screen()
    if not found:
        screen.line("Nothing waits for approval.")
        return
    rows = [
        [one["approval_id"], one["subject_hash"][:12], first_line(one["message"], 60)]
        for one in found
    ]
    screen.table(["approval", "hash", "question"], rows)


async def _find(place: Target, which: str) -> Json:
    """The open approval that is meant."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.outcome import Told

    async with clients.looking(place) as client:
        if ":" in which:
            found = [one for one in await client.approvals() if one["approval_id"] == which]
        else:
            found = await client.approvals(which)
    if len(found) == 1:
        return found[0]
    if not found:
        raise Told(
            "approval_unknown",
            f"Nothing open is asked by {which}",
            hint="`awo approve` without an id lists what is",
            field="APPROVAL",
        )
    ids = ", ".join(one["approval_id"] for one in found)
    raise Told(
        "approval_ambiguous",
        f"{which} asks several things",
        hint=f"Name one: {ids}",
        field="APPROVAL",
    )
