"""What an order shows on the hub: one comment and one check, drawn from its run. Pure.

Drawn anew from the whole run each time, so that it does not matter which changes were seen. Names
and messages in it are of strangers: the forge makes every body harmless before it is posted.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from agent_work_orders.clock import iso
from agent_work_orders.github_integration.forge import Check, Conclusion
from agent_work_orders.state_manager.records import OrderRecord
from agent_work_orders.work_orders.read_side import projection
from agent_work_orders.workflow_engine.run import Run
from agent_work_orders.workflow_engine.waiting import RATE_LIMIT

CHECK_NAME = "Agent Work Orders"
MAX_STEPS = 40
MESSAGE_CHARS = 300

State = Literal["waiting", "running", "asking", "completed", "failed", "cancelled"]

_WORDS: dict[State, tuple[str, str]] = {
    "waiting": ("⏳", "waiting"),
    "running": ("🔄", "working on it"),
    "asking": ("🙋", "needs an approval"),
    "completed": ("✅", "done"),
    "failed": ("❌", "failed"),
    "cancelled": ("⛔", "cancelled"),
}
_MARKS = {
    "succeeded": "✅",
    "failed": "❌",
    "running": "🔄",
    "awaiting_approval": "🙋",
    "skipped": "➖",
    "cancelled": "⛔",
}
_BY_A_PERSON = {
    "pull_request_closed": "its pull request was closed",
    "pull_request_merged": "its pull request was merged",
}
"""By the code of the failure: what somebody decided, and no fault of the order."""
_CONCLUSIONS: dict[State, Conclusion] = {
    "completed": "success",
    "failed": "failure",
    "cancelled": "cancelled",
}


class ProgressView(msgspec.Struct, frozen=True, kw_only=True):
    state: State
    comment: str
    title: str
    conclusion: Conclusion | None
    head_sha: str | None
    """The commit that the order put on its branch; None before there is one."""
    over: bool
    order_url: str = ""

    def check(self, head_sha: str) -> Check:
        return Check(
            name=CHECK_NAME,
            head_sha=head_sha,
            title=self.title,
            summary=self.comment,
            conclusion=self.conclusion,
            details_url=self.order_url,
        )


def superseded(head_sha: str, by: str) -> Check:
    """Of a commit that is no longer the branch's head."""
    return Check(
        name=CHECK_NAME,
        head_sha=head_sha,
        title="Superseded",
        summary=f"The order goes on with {by}.",
        conclusion="neutral",
    )


def draw(run: Run, *, order_url: str = "", queue_until_ms: int | None = None) -> ProgressView:
    """`queue_until_ms`: until when a limit holds it in the queue."""
    record = projection.record(run, 0, queue_until_ms)
    tasks = projection.tasks(run)
    state = _state(record.status, tasks)
    mark, word = _WORDS[state]
    title = f"{mark} {word}"
    unverified = state == "completed" and record.verification == "unverified"
    if unverified:
        title = "⚠️ done, but unverified"
    decided = _BY_A_PERSON.get(record.error_code or "")
    if decided is not None:
        title = f"⛔ ended: {decided}"
    waits_for_it = record.waiting_reason in ("github_quota", "github_unavailable")
    if waits_for_it and record.waiting_until_ms is not None:
        title = f"⏳ waiting for GitHub until {iso(record.waiting_until_ms)}"
    if record.waiting_reason == RATE_LIMIT and record.waiting_until_ms is not None:
        title = (
            f"⏳ waiting until {iso(record.waiting_until_ms)}: so many orders may begin in an hour"
        )
    lines = [f"### {title}", "", _about(record, order_url), ""]
    lines += _questions(tasks) + _steps(tasks)
    if record.verification is not None and record.verification_reason:
        lines += [
            "",
            f"**{record.verification.capitalize()}**: {_short(record.verification_reason)}",
        ]
    if record.error_message:
        lines += ["", f"**{record.error_message}**"]
        lines += [record.error_hint] if record.error_hint else []
    if record.github_pull_request_url:
        lines += ["", f"Pull request: {record.github_pull_request_url}"]
    if state == "failed" and record.error_code != "pull_request_merged":
        lines += ["", "Comment `/awo retry` to try again, or `/awo help` for all that you can say."]
    return ProgressView(
        state=state,
        comment="\n".join(lines),
        title=title,
        conclusion="neutral" if unverified or decided else _CONCLUSIONS.get(state),
        head_sha=_head(tasks),
        over=run.stage == "ended",
        order_url=order_url,
    )


def _state(status: str, tasks: list[dict[str, Any]]) -> State:
    if any(task["state"] == "awaiting_approval" for task in tasks):
        return "asking"
    match status:
        case "completed" | "failed" | "cancelled":
            return status
        case "running":
            return "running"
    return "waiting"


def _about(record: OrderRecord, order_url: str) -> str:
    name = (
        f"[`{record.agent_work_order_id}`]({order_url})"
        if order_url
        else (f"`{record.agent_work_order_id}`")
    )
    cost = _cost(record)
    return f"Work order {name} · workflow `{record.workflow_type}`{cost}"


def _cost(record: OrderRecord) -> str:
    word = {"at_least": "at least ", "estimated": "about "}.get(record.cost_certainty, "")
    return f" · {word}${record.cost_usd:.2f}" if record.cost_usd or word else ""


def _questions(tasks: list[dict[str, Any]]) -> list[str]:
    lines = []
    for task in tasks:
        gate = task["approval"]
        if task["state"] != "awaiting_approval" or gate is None or gate["head_sha"] is None:
            continue
        short, commit = gate["subject_hash"][:12], gate["head_sha"][:12] or "none yet"
        lines += [
            f"**{_short(gate['message'])}** (`{task['path']}`, commit `{commit}`, "
            f"subject `{short}`)",
            "",
            f"{_who(gate)}: `/awo approve {short}` or `/awo reject {short}`.",
            "",
        ]
    return lines


def _who(gate: dict[str, Any]) -> str:
    named = [f"`{_short(str(one))}`" for one in gate["subject"].get("approvers", ())]
    return f"Only {' or '.join(named)} decides" if named else "Somebody with write access decides"


def _steps(tasks: list[dict[str, Any]]) -> list[str]:
    rows = [task for task in tasks if task["kind"] not in ("repeat", "foreach", "group")]
    lines = ["| | step | |", "| --- | --- | --- |"]
    for task in rows[:MAX_STEPS]:
        mark = _MARKS.get(task["state"], "▫️")
        lines.append(f"| {mark} | `{task['path']}` | {_cell(_result(task))} |")
    if len(rows) > MAX_STEPS:
        lines.append(f"| | … {len(rows) - MAX_STEPS} more | |")
    return lines


def _result(task: dict[str, Any]) -> str:
    failure, outputs = task["failure"], task["outputs"] or {}
    if failure is not None and task["state"] in ("failed", "cancelled"):
        return _short(failure["message"])
    if task["state"] != "succeeded":
        return task["waiting_reason"] or ""
    if task["uses"] == "tests.run":
        return _short(_of_tests(outputs))
    if outputs.get("commit"):
        return f"commit {str(outputs['commit'])[:7]}"
    return ""


def _of_tests(outputs: dict[str, Any]) -> str:
    total, failed = outputs.get("total") or 0, outputs.get("failed") or 0
    skipped = outputs.get("skipped") or 0
    if outputs.get("passed"):
        return f"tests passed ({total - skipped} run, {skipped} skipped)"
    first = (str(outputs.get("summary") or "").splitlines() or [""])[0]
    if outputs.get("verdict") == "unverified" or not outputs.get("found"):
        return f"unverified: {first or 'no tests were run'}"
    changes = outputs.get("changes") or []
    counts = f" ({failed} of {total} failed)" if failed else ""
    return f"tests did not pass{counts}: {'; '.join([first, *changes])}"


def _head(tasks: list[dict[str, Any]]) -> str | None:
    """Of the pull request that the order opened."""
    for task in reversed(tasks):
        if task["uses"] == "forge.open_pull_request" and task["state"] == "succeeded":
            return str((task["outputs"] or {}).get("head") or "") or None
    return None


def _short(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= MESSAGE_CHARS else one[: MESSAGE_CHARS - 1] + "…"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
