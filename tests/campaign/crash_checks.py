"""What must hold after the last death: the general oracle of the fault catalogue, on real git."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from crash_driver import Campaign, git

from agent_work_orders.sandbox_manager.local.processes import home_tag

AGENT_TOOLS = ("agent.command", "agent.prompt")


def broken(campaign: Campaign, found: dict[str, dict[str, Any]]) -> list[str]:
    """Every rule that does not hold, told."""
    verified = found["verify"]
    orders = {order: told for order, told in found.items() if order != "verify"}
    told = [f"the journal's chain: {reason}" for reason in verified["journal"]]
    if verified["audit"] is not None:
        told.append(f"the audit log's chain: {verified['audit']}")
    return [
        *told,
        *_acknowledged(campaign, orders),
        *_ended(orders),
        *_branches(campaign, orders),
        *_reviews(campaign, orders),
        *_stores(campaign),
        *_leftovers(campaign.home),
        *processes(campaign),
    ]


def _acknowledged(campaign: Campaign, orders: dict[str, dict[str, Any]]) -> Iterator[str]:
    given = [wish.order for wish in campaign.wishes]
    if None in given:
        yield f"{given.count(None)} orders were never acknowledged"
    if len(set(given)) != len(given):
        yield "two wishes have the same order"
    with sqlite3.connect(f"file:{campaign.home}/journal.db?mode=ro", uri=True) as database:
        stored = {row[0] for row in database.execute("SELECT agent_work_order_id FROM orders")}
        owed = database.execute("SELECT count(*) FROM effects").fetchone()[0]
    for order in stored - set(given):
        yield f"{order} exists and nobody has asked for it"
    if owed:
        yield f"{owed} effects are still owed"
    for order, told in orders.items():
        if told.get("missing"):
            yield f"{order} was acknowledged and is lost: {told}"


def _ended(orders: dict[str, dict[str, Any]]) -> Iterator[str]:
    for order, told in orders.items():
        if told.get("missing"):
            continue
        if told["status"] != "completed":
            failed = [task["failure"] for task in told["tasks"] if task["failure"]]
            yield f"{order} is {told['status']} ({told['error']}): {failed}"
        if told["listed"] != told["status"]:
            yield f"{order} is listed as {told['listed']} and is {told['status']}"
        for task in told["tasks"]:
            if task["state"] in ("running", "pending"):
                yield f"{order}: {task['path']} is stuck {task['state']}"


def _branches(campaign: Campaign, orders: dict[str, dict[str, Any]]) -> Iterator[str]:
    heads = git(
        "-C", str(campaign.origin), "for-each-ref", "refs/heads", "--format=%(refname:short)"
    ).split()
    wanted = {told["branch"] for told in orders.values() if told.get("status") == "completed"}
    if missing := wanted - set(heads):
        yield f"branches are missing: {sorted(missing)}"
    if more := set(heads) - wanted - {"main"}:
        yield f"branches that no completed order has: {sorted(more)}"
    for order, told in orders.items():
        if told.get("branch") not in heads:
            continue
        made = git(
            "-C",
            str(campaign.origin),
            "log",
            f"main..{told['branch']}",
            "--format=%(trailers:key=Awo-Task,valueonly,separator=)",
        ).split()
        tasks = [task for task in told["tasks"] if task["uses"] in AGENT_TOOLS]
        changed = [task["path"] for task in tasks if (task["outputs"] or {}).get("changed")]
        if Counter(made) != Counter(changed):
            yield f"{order} has commits of {sorted(made)}, changes of {sorted(changed)}"


def _reviews(campaign: Campaign, orders: dict[str, dict[str, Any]]) -> Iterator[str]:
    files = campaign.home.glob("reviews/*/*/review.json")
    made = Counter(msgspec.json.decode(file.read_bytes())["proposal"]["order_id"] for file in files)
    for order in orders:
        if made[order] != 1:
            yield f"{order} has {made[order]} reviews"


def _stores(campaign: Campaign) -> Iterator[str]:
    mirrors = [path for path in campaign.home.glob("mirrors/*") if (path / "objects").is_dir()]
    for store in [campaign.origin, *mirrors]:
        said = git("-C", str(store), "fsck", "--full", "--strict", "--no-dangling")
        if said.strip():
            yield f"git fsck of {store.name}: {said[:300]}"


def _leftovers(home: Path) -> Iterator[str]:
    for path in (home / "workspaces").iterdir():
        yield f"a workspace is left: {path.name}"
    for path in home.rglob("*"):
        name = path.name
        inside_mirror = "mirrors" in path.parts and path.parent.name != "mirrors"
        if name.endswith(".lock") and inside_mirror:
            yield f"a lock is left: {path.relative_to(home)}"
        if name.endswith((".making", ".tmp", ".renewed", ".damaged")) or name.startswith("tmp_"):
            yield f"a temporary file is left: {path.relative_to(home)}"


def processes(campaign: Campaign) -> Iterator[str]:
    """Whatever still runs of the product or of its agents."""
    marks = [f"CRASH_MARK={campaign.mark}", f"AWO_HOME_TAG={home_tag(campaign.home)}"]
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            environment = Path("/proc", name, "environ").read_bytes()
            command = Path("/proc", name, "cmdline").read_bytes()
        except OSError:
            continue
        if any(mark.encode() in environment for mark in marks) or (
            str(campaign.home).encode() in command
        ):
            yield f"process {name} is left: {command[:200]!r}"
