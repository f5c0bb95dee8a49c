"""The message of an order's commit: what, then trailers that name task and order. Pure.

What agents and people said in it notifies nobody, closes nothing and links nowhere.
"""

from __future__ import annotations

from agent_work_orders.github_integration.resources import untrusted_text
from agent_work_orders.tools.tool import Order

ORDER = "Awo-Order"
TASK = "Awo-Task"
PHASE = "Awo-Phase"
KEY = "Awo-Key"
SUBJECT_LIMIT = 72
# The convention's type for each phase; what tests leave behind is a test commit.
_TYPES = {"planning": "docs", "implementing": "feat", "testing": "test"}


def write(order: Order, *, path: str, phase: str | None, key: str, subject: str = "") -> str:
    what = _subject(subject or order.title or order.prompt or order.workflow)
    issue = f"#{order.github_issue_number} - " if order.github_issue_number else ""
    head = f"{_TYPES.get(phase or '', 'feat')}: {issue}{what}"
    trailers = [f"{ORDER}: {order.order_id}", f"{TASK}: {path}"]
    if phase is not None:
        trailers.append(f"{PHASE}: {phase}")
    trailers.append(f"{KEY}: {key}")
    return f"{shorten(head)}\n\n" + "\n".join(trailers) + "\n"


def title(order: Order, subject: str = "") -> str:
    """A pull request's title: `feat: #42 - …`."""
    what = _subject(subject or order.title or order.prompt or order.workflow)
    issue = f"#{order.github_issue_number} - " if order.github_issue_number else ""
    return shorten(f"feat: {issue}{what}")


def _subject(text: str) -> str:
    return untrusted_text.subject(one_line(text))


def one_line(text: str) -> str:
    """The first line that says something, without control characters."""
    for line in text.splitlines():
        clean = "".join(ch for ch in line if ch.isprintable()).strip()
        if clean:
            return clean
    return "work order"


def shorten(text: str, limit: int = SUBJECT_LIMIT) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
