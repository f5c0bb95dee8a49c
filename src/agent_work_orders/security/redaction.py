"""Taking secrets out of text before it is written anywhere.

Two rules: the secrets we know, in the forms in which they travel (plain, URL-, JSON- and
HTML-escaped, base64 alone or inside a longer text, hex), and the shapes of well-known tokens.
Each shape, and each form of a secret, is looked for only where its first letters occur, so that
ordinary text costs a few searches for a fixed string (many tokens of one kind share their first
letters); every pattern is bounded and starts where a run of its characters starts, so that no text
makes it slow.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

MARK = "[redacted]"
# FAULTS I3: a shorter secret would redact ordinary words; it is refused where it is set.
SHORTEST = 8
MOST_ADDED = 256
"""Tokens that live for an hour; those of GitHub are known by their shape for ever."""
_BEGINNING = 4

# `eyJ` where a run of token characters begins: after anything else, or after a terminal's colour.
_EYJ = (
    r"eyJ(?:(?<![A-Za-z0-9_-]eyJ)|(?<=\x1b\[[0-9]meyJ)"
    r"|(?<=\x1b\[[0-9]{2}meyJ)|(?<=\x1b\[[0-9];[0-9]{2}meyJ))"
)
_PART = r"[A-Za-z0-9_-]{10,4000}+"
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("gh", re.compile(r"gh[pousr]_[A-Za-z0-9]{20,255}")),
    ("github_pat_", re.compile(r"github_pat_[A-Za-z0-9_]{20,255}")),
    ("sk-", re.compile(r"sk-(?:ant-[A-Za-z0-9_-]{20,255}|[A-Za-z0-9]{32,128})")),
    ("xox", re.compile(r"xox[abprs]-[A-Za-z0-9-]{10,255}")),
    ("AKIA", re.compile(r"AKIA[0-9A-Z]{16}")),
    (".eyJ", re.compile(rf"{_EYJ}{_PART}\.eyJ{_PART}\.{_PART}")),
    ("key-", re.compile(r"key-[a-z2-7]{16}\.[A-Za-z0-9_-]{20,255}")),
    (
        "PRIVATE KEY-----",
        re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\[nr]){0,16384}"),
    ),
    ("://", re.compile(r"(?<=://)[^/\s:@]{0,256}+:[^/\s@]{1,256}+(?=@)")),
)


class Redactor:
    """What it was made with is known for ever; of what was added later, the newest `MOST_ADDED`.
    May be used by several threads; `add` by one at a time."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._always = {form for secret in secrets for form in _known(secret)}
        self._added: dict[str, None] = {}
        self._by_beginning = _by_beginning(self._always)

    def remember(self, secrets: Iterable[str]) -> None:
        """As if it had been made with these too."""
        self._always |= {form for secret in secrets for form in _known(secret)}
        self._by_beginning = _by_beginning(self._always | self._forms_added())

    def add(self, secret: str) -> None:
        """One more, from now on: a token that was just minted."""
        self._added.pop(secret, None)
        self._added[secret] = None
        while len(self._added) > MOST_ADDED:
            del self._added[next(iter(self._added))]
        self._by_beginning = _by_beginning(self._always | self._forms_added())

    def _forms_added(self) -> set[str]:
        return {form for added in self._added for form in _known(added)}

    def _found(self, text: str) -> Iterator[str]:
        return (
            form
            for beginning, forms in self._by_beginning
            if beginning in text
            for form in forms
            if form in text
        )

    def knows(self, text: str) -> bool:
        """Whether a secret that we know is in it, in any form. What only looks like one is not."""
        return any(True for _ in self._found(text))

    def text(self, text: str) -> str:
        for form in sorted(self._found(text), key=len, reverse=True):
            text = text.replace(form, MARK)
        for needle, shape in _SHAPES:
            if needle in text:
                text = shape.sub(MARK, text)
        return text

    def content(self, content: bytes) -> bytes:
        """The same for a file; bytes that are not text stay as they are."""
        text = content.decode("utf-8", "surrogateescape")
        return self.text(text).encode("utf-8", "surrogateescape")

    def value(self, value: Any) -> Any:
        """The same for every string in a JSON value, names included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def _known(secret: str) -> set[str]:
    return _forms(secret) if len(secret) >= SHORTEST else set()


def _by_beginning(forms: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    groups: dict[str, list[str]] = {}
    for form in forms:
        groups.setdefault(form[:_BEGINNING], []).append(form)
    return tuple((beginning, tuple(group)) for beginning, group in groups.items())


def _forms(secret: str) -> set[str]:
    raw = secret.encode()
    quoted = quote(secret, safe="")
    escaped = json.dumps(secret)[1:-1]
    return {
        secret,
        quoted,
        re.sub("%..", lambda found: found[0].lower(), quoted),
        escaped,
        escaped.replace("/", "\\/"),
        html.escape(secret),
        raw.hex(),
        raw.hex().upper(),
        *_inside_base64(raw),
    }


def _inside_base64(raw: bytes) -> set[str]:
    """What base64 makes of it at each of the three places where it can begin in a longer text:
    without the characters at either end, which depend on what stands beside it."""
    found: set[str] = set()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        whole = (before + len(raw)) % 3 == 0
        core = encoded[(0, 2, 3)[before] : None if whole else -1]
        found |= {core, core.replace("+", "-").replace("/", "_")}
    return {core for core in found if len(core) >= SHORTEST}
