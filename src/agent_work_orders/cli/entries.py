"""The entries of a transcript in words: whole for who reads it, one line for who watches. Pure."""

from __future__ import annotations

from typing import Any

from agent_work_orders.cli import spending
from agent_work_orders.cli.screen import count, first_line, json_text

Json = dict[str, Any]

# What of a tool's input says most, in this order.
_TELLING = (
    "command", "file_path", "path", "notebook_path", "pattern", "query", "url", "prompt",
    "argv", "description",
)  # fmt: skip
INPUT_LIMIT_CHARS = 4_000
"""Of one input; an edit of a long file is in the diff."""
LINE_LIMIT = 100


def is_count(entry: Json) -> bool:
    """A count of what was used so far, many times a turn."""
    return "meter" in entry["data"]


def usage(entry: Json) -> Json | None:
    """What the task's agent has used up to here, where the entry says it."""
    said = entry["data"].get("meter")
    found = said.get("usage") if isinstance(said, dict) else None
    return found if isinstance(found, dict) else None


def title(entry: Json, used: Json | None = None) -> str:
    """What stands beside the kind of an entry. `used`: the last count before it."""
    if entry["kind"] == "tool_use":
        return str(entry["text"])
    if entry["kind"] == "tool_result" and (entry["data"].get("is_error") or _failed(entry)):
        return "failed"
    if entry["text"] == "end of turn":
        return "end of turn" + "".join(f" · {part}" for part in _numbers(entry["data"], used))
    return ""


def body(entry: Json) -> str:
    """What stands below it."""
    if entry["kind"] == "tool_use":
        return _inputs(entry["data"].get("input"))
    return "" if title(entry).startswith("end of turn") else str(entry["text"])


def doing(entry: Json) -> str:
    """What an agent does at the moment, in one line; empty when the entry does not say."""
    if is_count(entry) or entry["kind"] not in ("text", "tool_use", "tool_result", "thinking"):
        return ""
    if entry["kind"] == "tool_use":
        told = _most_telling(entry["data"].get("input"))
        return first_line(f"{entry['text']} {told}".strip(), LINE_LIMIT)
    if entry["kind"] == "thinking":
        return "thinking"
    lines = [line for line in str(entry["text"]).splitlines() if line.strip()]
    return first_line(lines[-1], LINE_LIMIT) if lines else ""


def _inputs(given: Any) -> str:
    if not isinstance(given, dict):
        return "" if given is None else _shown(given)
    lines = []
    for name, value in given.items():
        text = _shown(value)
        lines.append(f"{name}:\n{_indented(text)}" if "\n" in text else f"{name}: {text}")
    return "\n".join(lines)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json_text(value)
    if len(text) <= INPUT_LIMIT_CHARS:
        return text
    half = INPUT_LIMIT_CHARS // 2
    return f"{text[:half]}\n[… {len(text)} characters in all …]\n{text[-half:]}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _most_telling(given: Any) -> str:
    if not isinstance(given, dict):
        return ""
    for name in _TELLING:
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value:
            return " ".join(map(str, value))
        if isinstance(value, dict) and value:
            return ", ".join(map(str, value))
    return ""


def _failed(entry: Json) -> bool:
    return entry["data"].get("exit_code") not in (None, 0)


def _numbers(data: Json, used: Json | None) -> list[str]:
    """What the turn says itself, else what was counted."""
    parts = []
    if isinstance(data.get("num_turns"), int):
        parts.append(count(data["num_turns"], "step"))
    if used is not None:
        tokens_in, tokens_out = used.get("input_tokens", 0), used.get("output_tokens", 0)
        parts.append(f"{tokens_in:,} tokens in, {tokens_out:,} out so far")
    dollars = data.get("total_cost_usd")
    if isinstance(dollars, int | float):
        parts.append(spending.cost(float(dollars), "exact") or "$0")
    return parts
