"""How our writes are found again, and how long they may be.

A write's key stands in a hidden comment at the end of its body. Only what our own account wrote
counts, and inside of it only one marker can stand: those in texts of strangers are broken.
"""

from __future__ import annotations

import hashlib
import re

from agent_work_orders.github_integration.resources import untrusted_text

# "body is too long (maximum is 65536 characters)" for issues, comments, reviews and pull
# requests; `output.summary` and `output.text` of a check say 65535: one number for all.
BODY_LIMIT = 65_535
TITLE_LIMIT = 256
CUT = "\n\n*(Cut here: the text is longer than the service allows.)*"

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_.:/\[\]-]{1,200}")


def marker(key: str) -> str:
    """What a body carries. A key that could end the comment is replaced by its hash."""
    if not _PLAIN_KEY.fullmatch(key):
        key = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
    return f"<!-- awo:{key} -->"


def carries(body: str | None, key: str) -> bool:
    return body is not None and marker(key) in body


def any_of_ours(body: str | None) -> bool:
    """Whether it carries a marker at all."""
    return body is not None and "<!-- awo:" in body


def of_another(body: str | None, key: str) -> bool:
    """Whether it carries a marker, and not this key's."""
    return any_of_ours(body) and not carries(body, key)


def fingerprint(text: str | None) -> str:
    """Of a text as it is shown: line ends and space at their ends may change on the way."""
    lines = (text or "").replace("\r\n", "\n").split("\n")
    shown = "\n".join(line.rstrip() for line in lines).strip()
    return hashlib.sha256(shown.encode("utf-8", "replace")).hexdigest()


def seal(text: str, key: str, hosts: frozenset[str], *, ours: str = "") -> str:
    """A stranger's text as the body of our write: harmless, bounded, marked. `ours` is added as
    it is: what only we may say."""
    tail = f"\n\n{ours}" if ours else ""
    return bounded(untrusted_text.harmless(text, hosts), f"{tail}\n\n{marker(key)}")


def bounded(text: str, tail: str = "", limit: int = BODY_LIMIT) -> str:
    """Cut with a word about it, never inside of a fence that would swallow the rest."""
    closed = _closed(text)
    if len(closed) + len(tail) <= limit:
        return closed + tail
    # Room for closing the fence: it is at most as long as the longest one in the text.
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=0)
    cut = text[: max(0, limit - len(tail) - len(CUT) - longest - 1)]
    return _closed(cut) + CUT + tail


def _closed(text: str) -> str:
    fence = untrusted_text.open_fence(text)
    return f"{text}\n{fence}" if fence else text
