"""Watching an order until it ends or needs a person, and telling what happens meanwhile."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import time
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from agent_work_orders.cli import outcome
from agent_work_orders.cli.screen import Screen, clean, count, first_line, seconds, state_word
from agent_work_orders.errors import AgentWorkOrdersError

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Client, Json

EVERY_S = 0.1
EVERY_REMOTE_S = 0.5
DOING_EVERY_S = 1.0
ENDED = ("completed", "failed", "cancelled")
PERSON = "a person's word"
WAITS = {
    "github_quota": "GitHub",
    "github_unavailable": "GitHub to answer again",
    "access_lost": "access to the repository on GitHub",
    "model_quota": "the model's quota",
    "model_unavailable": "the model to answer again",
    "circuit_open": "the model to answer again",
    "disk_full": "space on the server's disk",
}
_SHOWN = ("running", "succeeded", "failed", "cancelled", "skipped", "awaiting_approval")


class Spinner(Protocol):
    def stop(self) -> None: ...

    def update(self, status: str) -> None: ...


class Interrupted(Exception):
    """The person wants the terminal back."""


class Patience:
    """First Ctrl-C or SIGTERM: leave in order. Second: leave at once; what is durable stays so."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()

    def __enter__(self) -> Patience:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The handlers stay: the second Ctrl-C comes while the house is being closed.
        return None

    async def wait(self, timeout_s: float) -> None:
        """Raises `Interrupted` when asked."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._asked.wait()
        except TimeoutError:
            return
        raise Interrupted

    def _hear(self) -> None:
        if self._asked.is_set():
            # Agents end with this process: their supervisor sees to it.
            os._exit(outcome.INTERRUPTED)
        self._asked.set()


class Teller:
    """Prints each task once per state, under the heading of its phase. What had ended before
    `since` (ISO 8601) is not news."""

    def __init__(self, screen: Screen, since: str = "") -> None:
        self._screen = screen
        self._since = since
        self._seen: dict[str, tuple[Any, ...]] = {}
        self._phase: str | None = None
        self._waiting: tuple[Any, ...] = ()
        self._spinner: Spinner | None = None
        self._spinning: tuple[str, float] = ("", 0.0)
        self._doing: dict[str, str] = {}

    def tell(self, order: Json, tasks: list[Json]) -> None:
        fresh = [task for task in tasks if is_work(task) and self._is_news(task)]
        if fresh:
            self.hush()
        for task in sorted(fresh, key=lambda one: one["ended_at"] or one["started_at"] or "~"):
            self._heading(task["phase"])
            if task["state"] == "running" and self._screen.terminal:
                continue
            self._screen.marked(state_word(task["state"]), describe(task))
        self._tell_waiting(order)
        self._spin(tasks)

    @property
    def watches(self) -> bool:
        """Whether it shows what agents do at the moment."""
        return self._screen.terminal and not self._screen.quiet

    def tell_doing(self, path: str, what: str) -> None:
        self._doing[path] = what

    def hush(self) -> None:
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    def _is_news(self, task: Json) -> bool:
        now = (task["state"], task["attempt"], task["generation"])
        known = self._seen.get(task["path"])
        self._seen[task["path"]] = now
        past = known is None and task["ended_at"] is not None and task["ended_at"] < self._since
        return now != known and task["state"] in _SHOWN and not past

    def _heading(self, phase: str | None) -> None:
        """Workflows without phases have no headings."""
        wanted = phase or ("finishing" if self._phase else None)
        if wanted is not None and wanted != self._phase:
            self._screen.heading(wanted)
            self._phase = wanted

    def _tell_waiting(self, order: Json) -> None:
        now = (order["status"], order["waiting_reason"], order["waiting_until"])
        if now == self._waiting:
            return
        self._waiting = now
        if order["waiting_reason"] == "approval":
            return  # told by the task that asks
        if order["status"] in ("waiting", "paused") or order["waiting_reason"] == "rate_limit":
            self.hush()
            until = f" until {order['waiting_until']}" if order["waiting_until"] else ""
            self._screen.marked("waiting", f"for {waits_for(order) or PERSON}{until}")

    def _spin(self, tasks: list[Json]) -> None:
        running = [task["path"] for task in tasks if is_work(task) and task["state"] == "running"]
        if not running or not self.watches:
            self.hush()
            return
        text = ", ".join(running[:3]) + (" …" if len(running) > 3 else "")
        if text != self._spinning[0]:
            self._spinning = (text, time.monotonic())
        text += f"  {time.monotonic() - self._spinning[1]:.0f} s"
        doing = [self._doing[path] for path in running if self._doing.get(path)]
        text += f"  {doing[-1]}" if doing else ""
        if self._spinner is None:
            from rich.console import Console

            self._spinner = Console().status("", spinner_style="cyan")
            self._spinner.start()
        # An agent's words are no markup, and one line is what there is room for.
        self._spinner.update(_one_line(text))


def _one_line(text: str) -> str:
    from rich.markup import escape

    room = max(20, shutil.get_terminal_size().columns - 4)
    return escape(clean(text) if len(text) <= room else clean(text)[: room - 1] + "…")


class Watch:
    """Reads on in the transcripts of the agents that are at work, at most once a second."""

    def __init__(self, client: Client, order_id: str, teller: Teller) -> None:
        self._client = client
        self._order_id = order_id
        self._teller = teller
        self._after: dict[str, int] = {}
        self._next_s = 0.0

    async def look(self, tasks: list[Json]) -> None:
        now_s = time.monotonic()
        if not self._teller.watches or now_s < self._next_s:
            return
        self._next_s = now_s + DOING_EVERY_S
        for task in tasks:
            uses = str(task["uses"] or "")
            if task["state"] == "running" and uses.startswith("agent."):
                await self._read(str(task["path"]))

    async def _read(self, path: str) -> None:
        from agent_work_orders.cli import entries

        try:
            page = await self._client.transcript(
                self._order_id, path, after=self._after.get(path, 0)
            )
        except (outcome.Told, AgentWorkOrdersError) as error:
            if isinstance(error, outcome.Again):
                raise
            return  # it has said nothing yet
        self._after[path] = page["next_after"]
        said = [what for entry in page["entries"] if (what := entries.doing(entry))]
        if said:
            self._teller.tell_doing(path, said[-1])


async def follow(client: Client, order_id: str, teller: Teller, patience: Patience) -> Json:
    """Until the order ends or waits for a person. Raises `Interrupted`."""
    every_s = EVERY_REMOTE_S if client.remote else EVERY_S
    watch = Watch(client, order_id, teller)
    try:
        while True:
            order, tasks = await client.watch(order_id)
            await watch.look(tasks)
            teller.tell(order, tasks)
            if order["status"] in ENDED or needs_person(order):
                return order
            await patience.wait(every_s)
    finally:
        teller.hush()


def waits_for(order: Json) -> str:
    """In words, where we have them."""
    reason = str(order["waiting_reason"] or "")
    return WAITS.get(reason, reason)


def needs_person(order: Json) -> bool:
    """Whether nothing will move before somebody decides."""
    if order["status"] == "paused":
        return True
    reason = str(order["waiting_reason"] or "")
    return order["status"] == "waiting" and (
        reason in ("approval", "paused") or reason.startswith("failure")
    )


def exit_code(order: Json) -> int:
    if order["status"] == "completed":
        return outcome.OK
    return outcome.FAILED if order["status"] in ENDED else outcome.WAITING


def describe(task: Json) -> str:
    """`plan  0.4 s  commit ac95ca4 (2 files)`: one line of what a task came to."""
    parts = [str(task["path"])]
    if task["attempt"] > 1:
        parts.append(f"attempt {task['attempt']}")
    took_ms = duration_ms(task)
    if took_ms is not None:
        parts.append(seconds(took_ms))
    parts += result_of(task)
    return "  ".join(parts)


def duration_ms(task: Json) -> int | None:
    if not task["started_at"] or not task["ended_at"]:
        return None
    began, ended = (datetime.fromisoformat(task[name]) for name in ("started_at", "ended_at"))
    return round((ended - began).total_seconds() * 1000)


def result_of(task: Json) -> list[str]:
    failure, outputs = task["failure"], task["outputs"]
    if task["state"] in ("failed", "cancelled") and failure:
        return [f"{failure['message']} ({failure['code']})"]
    if task["state"] == "awaiting_approval" and task["approval"]:
        return [f"approval needed: {task['approval']['message']}"]
    if task["state"] != "succeeded" or not isinstance(outputs, dict):
        return []
    match task["uses"]:
        case "agent.command" | "agent.prompt":
            scripted = ["scripted"] if outputs.get("scripted") else []
            return [_commit_of(outputs), *scripted, *left_out_of(outputs)]
        case "git.commit":
            return left_out_of(outputs)
        case "tests.run":
            return [tests_of(outputs)]
        case "forge.open_pull_request":
            return [str(outputs.get("url", ""))]
    return []


def left_out_of(outputs: Json) -> list[str]:
    """What builds and tests left behind: in the workspace, not in the commit."""
    names = outputs.get("left_out") or []
    return [f"left out: {', '.join(map(str, names))}"] if names else []


def tests_of(outputs: Json) -> str:
    total, failed = outputs.get("total") or 0, outputs.get("failed") or 0
    summary, skipped = str(outputs.get("summary", "")), outputs.get("skipped") or 0
    if outputs.get("passed"):
        aside = f", {skipped} skipped" if skipped else ""
        return f"tests passed ({count(total - skipped, 'test')}{aside})"
    if outputs.get("verdict") == "unverified" or not outputs.get("found"):
        return f"UNVERIFIED: {first_line(summary or 'no tests found', 90)}"
    some = f" ({failed} of {total})" if total and failed else ""
    changes = outputs.get("changes") or []
    if changes and changes[-1] in summary:
        # Of the differences from the base, what speaks against a pass stands last.
        return f"tests FAILED{some}: {first_line(str(changes[-1]), 200)}"
    return f"tests FAILED{some}: {_complaint(summary)}"


# Said by the word before it.
_VERDICT = re.compile(r"^(?:--- )?FAIL(?:ED|URE)?\b:?\s*(?=\S)")
_COMPLAINTS = ("FAIL", "ERROR", "E  ", "--- FAIL", "not ok", "error")


def _complaint(summary: str) -> str:
    """The line of a test run's output that says most."""
    lines = [line for line in summary.splitlines() if line.startswith(_COMPLAINTS)]
    return first_line(_VERDICT.sub("", lines[0]) if lines else summary, 90)


def _commit_of(outputs: Json) -> str:
    sha = outputs.get("commit")
    if not sha:
        return "no changes"
    return f"commit {str(sha)[:7]} ({count(outputs.get('files_changed', 0), 'file')})"


def is_work(task: Json) -> bool:
    """Loops and fan-outs are told by what they contain, unless they failed before they had any."""
    empty = task["kind"] == "foreach" and not task["items"]
    return task["kind"] not in ("repeat", "foreach", "group") or (
        empty and task["failure"] is not None
    )
