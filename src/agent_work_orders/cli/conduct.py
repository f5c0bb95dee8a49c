"""One order, from something that sets it going to its end, with a person at the terminal."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable

from agent_work_orders.cli import client as clients
from agent_work_orders.cli import following, outcome, spending
from agent_work_orders.cli.client import Client, Json, Target
from agent_work_orders.cli.screen import (
    Screen,
    clean,
    count,
    first_line,
    json_text,
    print_json,
    short,
)
from agent_work_orders.clock import SystemClock, iso
from agent_work_orders.errors import Refused

Begin = Callable[[Client], Awaitable[Json]]
"""Sets the order going and returns it."""


async def conduct(
    place: Target,
    wanted: str | None,
    begin: Begin,
    *,
    as_json: bool,
    screen: Screen,
    good: str = "completed",
) -> int:
    """Begin (None: a new order), follow, ask the person where one is needed, report. Returns the
    exit code: 0 when the order ended as `good` says."""
    teller = following.Teller(screen, iso(SystemClock().now_ms()))
    order_id: str | None = None
    with following.Patience() as patience:
        while True:
            try:
                async with clients.acting(place, order_id or wanted, hands=True) as client:
                    if order_id is None:
                        order_id = str((await begin(client))["agent_work_order_id"])
                    elif not client.remote:
                        screen.line("The process that ran it has ended; it goes on here.")
                    order = await _to_the_end(client, order_id, screen, teller, patience)
                    order, tasks = await client.order(order_id), await client.tasks(order_id)
                    questions = await client.approvals(order_id) if _asks(order) else []
                    if as_json:
                        print_json(
                            {"agent_work_order": order, "tasks": tasks, "approvals": questions}
                        )
                    report(order, tasks, screen)
                    await _stay(client, patience)
                return outcome.OK if order["status"] == good else following.exit_code(order)
            except outcome.Again:
                if order_id is None:
                    raise
                # Whoever ran the order has gone: it goes on at the next owner, or here.
                await asyncio.sleep(following.EVERY_REMOTE_S)
            except following.Interrupted:
                return outcome.INTERRUPTED


async def _stay(client: Client, patience: following.Patience) -> None:
    """Orders that others set going here would be cut off: go on until they have ended."""
    told: set[str] = set()
    while True:
        others = await client.going_on()
        if not others and await client.leave():
            return
        fresh = [one["agent_work_order_id"] for one in others]
        fresh = [one for one in fresh if one not in told]
        if fresh:
            told.update(fresh)
            _note(
                f"Orders of others run here: {', '.join(map(short, fresh))}. This command ends "
                "when they have ended. Ctrl-C ends it now: then they go on in the terminal that "
                "follows them, or with `awo up` or `awo resume ORDER`."
            )
        try:
            await patience.wait(following.EVERY_S)
        except following.Interrupted:
            _interrupted(f"Stopping; nothing is lost. {_left(others)}")
            raise


async def _to_the_end(
    client: Client,
    order_id: str,
    screen: Screen,
    teller: following.Teller,
    patience: following.Patience,
) -> Json:
    while True:
        try:
            order = await following.follow(client, order_id, teller, patience)
        except following.Interrupted:
            await _tell_interrupted(client, order_id)
            raise
        if not _asks(order) or screen.quiet or not sys.stdin.isatty() or not screen.terminal:
            return order
        if not await _decided(client, order_id, screen):
            return order


def _asks(order: Json) -> bool:
    return bool(order["status"] == "waiting" and order["waiting_reason"] == "approval")


async def _decided(client: Client, order_id: str, screen: Screen) -> bool:
    """Ask the person at the terminal; False leaves it for later."""
    # The question is shown a moment after the task asks it.
    for _ in range(20):
        questions = await client.approvals(order_id)
        if questions:
            break
        await asyncio.sleep(0.1)
    for question in questions:
        show_question(question, screen)
        answer = (
            (await asyncio.to_thread(input, "Approve? [y]es, [n]o, anything else: later  "))
            .strip()
            .lower()
        )
        if question["approval_id"] not in [
            one["approval_id"] for one in await client.approvals(order_id)
        ]:
            screen.line("Meanwhile somebody else has answered.")
            continue
        if answer not in ("y", "yes", "n", "no"):
            return False
        try:
            await client.decide(
                question["approval_id"],
                approved=answer in ("y", "yes"),
                comment="",
                subject_hash=question["subject_hash"],
            )
        except (outcome.Told, Refused) as error:
            if error.code != "approval_subject_changed":
                raise
            screen.line("Meanwhile the order's branch has moved; it is asked again:")
            return await _decided(client, order_id, screen)
    return bool(questions)


def show_question(question: Json, screen: Screen) -> None:
    """Exactly what is decided, with the hash that binds the decision to it."""

    screen.heading(f"Approval {question['approval_id']}")
    screen.pairs(
        [
            ("question", str(question["message"])),
            ("task", str(question["task"])),
            ("commit", _commit_asked_about(question)),
            ("who decides", ", ".join(question["subject"].get("approvers", ())) or None),
            ("expires", question["expires_at"]),
            ("hash", str(question["subject_hash"])),
        ]
    )
    for line in json_text(question["subject"], indent=2).splitlines():
        screen.line(line, indent=4)


def _commit_asked_about(question: Json) -> str | None:
    """`awo diff` shows the changes up to it."""
    head = question["head_sha"]
    return head if head is None else str(head) or "none: the order has changed nothing yet"


# More stand in `awo show` and in the summary of the task.
SHOWN_CHANGES = 8


def report(order: Json, tasks: list[Json], screen: Screen) -> None:
    """How it ended and what to look at next."""
    name = short(order["agent_work_order_id"])
    screen.line()
    screen.marked(order["status"], order["agent_work_order_id"], indent=0)
    rows: list[tuple[str, str | None]] = []
    if order["error_message"]:
        rows.append(("error", f"{first_line(order['error_message'], 300)} ({order['error_code']})"))
        rows.append(("hint", order["error_hint"]))
    commits = order.get("git_commit_count") or 0
    if commits:
        lines = f"+{order['git_lines_added']} -{order['git_lines_removed']}"
        changed = f"{count(order['git_files_changed'], 'file')}, {lines}"
        rows.append(("commits", f"{commits} {_where(order, name)} ({changed})"))
    tests = [task for task in tasks if task["uses"] == "tests.run" and task["state"] == "succeeded"]
    if tests:
        last = tests[-1]["outputs"]
        rows.append(("tests", following.tests_of(last)))
        if not last.get("passed"):
            changes = last.get("changes") or []
            rows += [("changed", str(change)) for change in changes[:SHOWN_CHANGES]]
    if order.get("verification"):
        rows.append(("verified", verified_of(order)))
    if order["github_pull_request_url"]:
        rows.append(("review", str(order["github_pull_request_url"])))
    rows += [("warning", str(warning)) for warning in order["warnings"]]
    rows.append(("cost", spending.cost(order["cost_usd"], order["cost_certainty"])))
    rows.append(("next", _next(order, name)))
    screen.pairs(rows)


def verified_of(order: Json) -> str:
    """Whether tests stand behind the change; what nobody may overlook is in capitals."""
    reason = first_line(order["verification_reason"] or "", 200)
    match order["verification"]:
        case "verified":
            return "yes"
        case "unverified":
            return f"NO: it is UNVERIFIED ({reason})"
    return "NO: the tests did not pass"


def _where(order: Json, name: str) -> str:
    """A branch comes into the repository only when it is offered or pushed."""
    if order["branch_offered"]:
        return f"on {order['git_branch_name']}"
    return f"kept by awo, not in the repository; see awo diff {name}"


def _next(order: Json, name: str) -> str:
    match order["status"]:
        case "completed":
            return f"awo show {name} · awo diff {name}"
        case "failed":
            return f"awo logs {name} · awo show {name} · awo retry {name}"
        case "cancelled":
            return f"awo show {name} · awo retry {name}"
        case "pending" | "running":
            return f"awo logs -f {name} · awo cancel {name}"
        case "paused":
            return f"awo resume {name}"
        case "waiting" if order["waiting_reason"] == "approval":
            return f"awo approve {name} · awo reject {name}"
    return f"awo show {name} · awo retry {name} · awo cancel {name}"


async def _tell_interrupted(client: Client, order_id: str) -> None:
    name = short(order_id)
    if client.remote:
        _interrupted(f"The order goes on where it runs: awo logs -f {name} · awo cancel {name}")
        return
    others = [one for one in await client.going_on() if one["agent_work_order_id"] != order_id]
    _interrupted(
        f"Stopping; nothing is lost. Go on with: awo resume {name} (or awo up) · "
        f"give it up with: awo cancel {name}" + (f". {_left(others)}" if others else "")
    )


def _left(others: list[Json]) -> str:
    names = ", ".join(short(one["agent_work_order_id"]) for one in others)
    return (
        f"Orders of others ran here too ({names}): they go on in the terminal that follows them, "
        "or with awo up or awo resume ORDER"
    )


def _note(text: str) -> None:
    sys.stderr.write(clean(f"note: {text}") + "\n")
    sys.stderr.flush()


def _interrupted(text: str) -> None:
    """Beside what the command prints, which may be one JSON document."""
    sys.stderr.write(clean(f"interrupted: {text}") + "\n")
    sys.stderr.flush()
