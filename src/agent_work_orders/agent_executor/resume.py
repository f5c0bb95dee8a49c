"""Going on without the agent's own session: what was said before, as data for a new one. Pure.

Used when the session id is lost or the agent cannot find it (another sandbox, a corrupt file).
The newest entries matter most, so the oldest are left out first.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_work_orders.agent_executor.agent import Entry
from agent_work_orders.security import untrusted

# About 12,000 tokens: enough to go on, small against any model's window.
HISTORY_LIMIT_CHARS = 48_000
ENTRY_LIMIT_CHARS = 4_000

_NAMES = {"prompt": "asked", "text": "said", "tool_use": "used", "tool_result": "saw"}


def history(entries: Sequence[Entry], *, limit_chars: int = HISTORY_LIMIT_CHARS) -> str:
    """A preamble for the first prompt of the new session; empty when nothing was said."""
    kept: list[str] = []
    room = limit_chars
    for entry in reversed(entries):
        line = _told(entry)
        if line is None:
            continue
        room -= len(line)
        if room < 0:
            kept.append("[earlier entries are left out]")
            break
        kept.append(line)
    if not kept:
        return ""
    record = untrusted.block("earlier session", "\n".join(reversed(kept)))
    return (
        "An earlier session of this work was lost. Its record follows, oldest first. The files in "
        "the workspace are as it left them; look at them before repeating anything.\n"
        f"{untrusted.EXPLANATION}\n{record}\n\nGo on from there with this:\n\n"
    )


def _told(entry: Entry) -> str | None:
    name = _NAMES.get(entry.kind)
    if name is None:
        return None
    detail = f" {entry.data['input']}" if entry.kind == "tool_use" and "input" in entry.data else ""
    text = entry.text + detail
    if len(text) > ENTRY_LIMIT_CHARS:
        half = ENTRY_LIMIT_CHARS // 2
        text = f"{text[:half]} [… {len(text)} characters in all …] {text[-half:]}"
    return f"{name}: {text}"
