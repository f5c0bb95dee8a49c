"""Texts of strangers (agents, issues, test output) made harmless before the hub renders them.

What is taken from them: showing or linking anything on a host that was not listed (an image is
fetched by everybody who looks, and its address can carry secrets), raw HTML but for a few bare
tags, notifying people (`@name`), closing issues (`fixes #1`), hidden comments, and forging the
marker of another of our writes. The words stay readable: an invisible space breaks what would act.

Code in fences is left as it is, because nothing acts there and suggestions are applied literally.
Where a fence could be read in two ways, nothing counts as code: what we take for code and the hub
does not would be a way around all of this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

BREAK = "\u200b"

_FENCE = re.compile(r"(?P<run>`{3,})(?P<info>[^`]*)")
# Fences that the hub draws instead of showing.
_DRAWN = frozenset({"mermaid", "geojson", "topojson", "stl", "math"})
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_BARE_TAG = re.compile(r"</?(?:details|summary|br|sub|sup|kbd|b|i|em|strong) ?/?>", re.I)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#|[A-Za-z][A-Za-z0-9]{1,30};)(?!(?:lt|gt|amp|quot|nbsp);)")
_MARKER = re.compile(r"<!--(?=\s*awo:)")
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\[\]\n]{0,300})\]\((?P<target>[^\s()]{1,2000})\)")
_ADDRESS = re.compile(r"(?P<scheme>https?|ftp)://(?P<host>[^\s/?#<>()\[\]\"'`]*)", re.I)
_WWW = re.compile(r"\bwww\.", re.I)
_RELATIVE = re.compile(r"#[\w-]*|(?!/)[\w./-]+(?:#[\w-]*)?")
_MENTION = re.compile(r"(?<![A-Za-z0-9_])@(?=[A-Za-z0-9_])")
_CLOSING = re.compile(
    r"\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)"
    r"(?=\W{0,12}(?:(?:[\w.-]{1,100}/[\w.-]{1,100})?#\d|GH-\d|https?:))",
    re.I,
)

# The same with what it names, up to the number.
_REFERENCE = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)"
    r"\W{0,12}(?:(?:[\w.-]{1,100}/[\w.-]{1,100})?#|GH-)(?=\d)",
    re.I,
)


def plain(text: str) -> str:
    """Without NUL, control characters, half characters and what turns the reading direction."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def line(text: str, limit: int) -> str:
    """One line of plain text: a title, a description."""
    single = " ".join(plain(text).split())
    broken = _MENTION.sub(f"@{BREAK}", single)
    return broken if len(broken) <= limit else broken[: limit - 1] + "…"


def subject(text: str) -> str:
    """One line for a commit's message, which acts too: when it reaches the default branch. It is
    read in terminals, so what breaks it can be seen."""
    broken = _REFERENCE.sub(r"\g<0> ", _MENTION.sub("@ ", text))
    return _WWW.sub("www .", broken.replace("://", ": //"))


def harmless(text: str, hosts: frozenset[str]) -> str:
    """Markdown of a stranger as it may be posted. `hosts` may be linked and shown."""
    parts = (part if code else _prose(part, hosts) for code, part in split_code(plain(text)))
    return _MARKER.sub(f"<!{BREAK}--", "".join(parts))


def open_fence(text: str) -> str:
    """The fence that is still open at the end, or ""."""
    fence = ""
    for one in text.split("\n"):
        found = _FENCE.fullmatch(one)
        if found is None:
            continue
        if not fence:
            fence = found["run"]
        elif len(found["run"]) >= len(fence) and not found["info"].strip():
            fence = ""
    return fence


def split_code(text: str) -> list[tuple[bool, str]]:
    """(whether it is code, the lines), in order; all of it is prose when in doubt."""
    parts = list(_fenced(text.splitlines(keepends=True)))
    return [(False, text)] if any(code is None for code, _ in parts) else [*_known(parts)]


def _known(parts: list[tuple[bool | None, str]]) -> Iterator[tuple[bool, str]]:
    """Neighbouring lines of a kind as one."""
    kind, lines = False, ""
    for code, one in parts:
        if bool(code) != kind:
            yield kind, lines
            kind, lines = bool(code), ""
        lines += one
    yield kind, lines


def _fenced(lines: list[str]) -> Iterator[tuple[bool | None, str]]:
    """Each line with whether it is code; None where fences could be read in two ways."""
    fence, html = "", False
    for one in lines:
        bare = one.rstrip("\n")
        mark = _FENCE.fullmatch(bare)
        if "~~~" in bare or ("```" in bare and mark is None):
            yield None, one
        elif fence:
            yield True, one
            if mark and len(mark["run"]) >= len(fence) and not mark["info"].strip():
                fence, html = "", False
        elif mark:
            words = mark["info"].split()
            drawn = bool(words) and words[0].lower() in _DRAWN
            # A fence right below a tag belongs to the tag.
            yield None if html or drawn else True, one
            fence = mark["run"]
        else:
            html = bool(bare.strip()) and (html or "<" in bare)
            yield False, one


def _prose(text: str, hosts: frozenset[str]) -> str:
    text = _ENTITY.sub("&amp;", text)
    text = _TAG.sub(lambda found: _tag(text, found), text)
    text = _links(text, hosts)
    text = _MENTION.sub(f"@{BREAK}", text)
    text = _WWW.sub(f"www{BREAK}.", text)
    return _CLOSING.sub(lambda found: f"{found[0][0]}{BREAK}{found[0][1:]}", text)


def _tag(text: str, found: re.Match[str]) -> str:
    return "<" if _BARE_TAG.match(text, found.start()) else "&lt;"


def _links(text: str, hosts: frozenset[str]) -> str:
    """Only links that are written plainly and lead to a listed host, or within the repository,
    stay links; every other form of the syntax is broken."""
    kept: list[str] = []
    end = 0
    for found in _LINK.finditer(text):
        image = bool(found["image"])
        if _listed(found["target"], hosts) or (not image and _RELATIVE.fullmatch(found["target"])):
            inside = f"{found['image']}[{_broken(found['text'], hosts)}]({found['target']})"
            kept += [_broken(text[end : found.start()], hosts), inside]
            end = found.end()
    return "".join([*kept, _broken(text[end:], hosts)])


def _broken(text: str, hosts: frozenset[str]) -> str:
    text = text.replace("![", f"!{BREAK}[").replace("](", f"]{BREAK}(").replace("]:", f"]{BREAK}:")
    # `[text][reference]` needs a definition, and those are broken.
    return _ADDRESS.sub(
        lambda found: (
            found[0]
            if _host(found["host"]) in hosts
            else f"{found['scheme']}:{BREAK}//{found['host']}"
        ),
        text,
    )


def _host(authority: str) -> str:
    return authority.lower().rstrip(".,;:!*_")


def _listed(target: str, hosts: frozenset[str]) -> bool:
    # What markdown would decode (a backslash, an entity) is part of the host here, and not listed.
    found = _ADDRESS.match(target)
    return found is not None and found["host"].lower() in hosts
