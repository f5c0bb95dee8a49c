"""The transcript: ours, kept with the order, one JSON object per line. Pure.

Secrets are taken out before anything is written (`redact`); an entry over the limit keeps head and
tail and points to the whole text (`spill` stores it and returns its name). A damaged line is
skipped at reading and counted, so that a crash in the middle of a write costs one entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from agent_work_orders.agent_executor.agent import Entry, Transcript

ENTRY_LIMIT_BYTES = 64 * 1024

# An agent may talk without end. A day of honest work stays below this.
TURN_LIMIT_BYTES = 16 * 1024 * 1024

Redact = Callable[[str], str]
Spill = Callable[[bytes], str]
"""Keeps the whole text somewhere and returns its name (a sha256)."""

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Entry)


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    entries: tuple[Entry, ...]
    damaged: int


def encode(
    entry: Entry,
    *,
    redact: Redact | None = None,
    spill: Spill | None = None,
    limit_bytes: int = ENTRY_LIMIT_BYTES,
) -> bytes:
    """One line, its end included, of bounded size."""
    clean = _redacted(entry, redact) if redact is not None else entry
    line = _line(clean)
    if len(line) <= limit_bytes:
        return line
    size = len(line)
    name = spill(line) if spill is not None else None
    half = max(0, limit_bytes // 2 - 512) // 6  # one character is at most 6 bytes of JSON
    cut = f"\n[… {size} bytes in all{'' if name is None else f', kept as {name}'} …]\n"
    text = clean.text
    if len(text) > 2 * half:
        text = text[:half] + cut + text[len(text) - half :]
    data: dict[str, Any] = {"spilled": True, "size_bytes": size, "artifact": name}
    return _line(Entry(kind=clean.kind, text=text, data=data))


def decode(content: bytes) -> Reading:
    entries: list[Entry] = []
    damaged = 0
    for line in content.split(b"\n"):
        if not line.strip():
            continue
        try:
            entries.append(_DECODER.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            damaged += 1
    return Reading(entries=tuple(entries), damaged=damaged)


def limited(sink: Transcript, limit_bytes: int = TURN_LIMIT_BYTES) -> Transcript:
    """The same sink, up to a size; then one note, and only errors and endings pass."""
    used = 0
    told = False

    def pass_on(entry: Entry) -> None:
        nonlocal used, told
        if used <= limit_bytes:
            used += len(entry.text) + (len(_ENCODER.encode(entry.data)) if entry.data else 0)
            sink(entry)
        elif entry.kind in ("error", "prompt") and used <= 2 * limit_bytes:
            used += len(entry.text)
            sink(entry)
        elif not told:
            told = True
            sink(Entry(kind="system", text="the rest of the transcript is left out: too long"))

    return pass_on


def _line(entry: Entry) -> bytes:
    return _ENCODER.encode(entry) + b"\n"


def _redacted(entry: Entry, redact: Redact) -> Entry:
    return Entry(kind=entry.kind, text=redact(entry.text), data=_clean(entry.data, redact))


def _clean(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(str(key)): _clean(item, redact) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item, redact) for item in value]
    return value
