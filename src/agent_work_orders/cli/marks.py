"""Text from outside on a terminal: nothing in it acts, and nothing of it disappears.

A terminal obeys control characters and a reader obeys bidirectional ones, so both are shown as
marks (`⟨U+202E⟩`, as the dashboard does): what a review does not show could be merged unseen. What
a sequence carries is text like any other and stays there: `ESC ] code` is `⟨U+001B⟩] code`.

Two things are not marked. Colours, outside of patches: programs write them all the time, and they
hold no text. And a joiner between two emoji, which makes one picture of them.
"""

from __future__ import annotations

import re

_COLOUR = re.compile(r"\x1b\[[0-9;:]{0,32}m")
# C0, DEL, C1; invisible and bidirectional format characters; fillers that look like nothing; line
# separators; half characters; tags.
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINER = "\u200d"
_COLOURFUL = "\ufe0f"


def line(text: str) -> str:
    """One line: line feeds and tabs are spaces."""
    return block(text.replace("\n", " ").replace("\t", " "))


def block(text: str) -> str:
    """Several lines; line feeds and tabs stay."""
    return _marked(_COLOUR.sub("", text.replace("\r\n", "\n")))


def patch(text: str) -> str:
    """A patch: every character of it is shown, also the ends of lines that another system wrote."""
    return _marked(text)


def _marked(text: str) -> str:
    return _ODD.sub(_mark, text)


def _mark(found: re.Match[str]) -> str:
    character = found[0]
    if character == _JOINER and _joins_emoji(found.string, found.start()):
        return character
    start = found.start()
    if character == _COLOURFUL and _is_emoji(found.string[max(0, start - 1) : start]):
        return character
    code = ord(character)
    return "\ufffd" if 0xD800 <= code < 0xE000 else f"⟨U+{code:04X}⟩"


def _joins_emoji(text: str, at: int) -> bool:
    before, after = text[max(0, at - 1) : at], text[at + 1 : at + 2]
    return (before == "\ufe0f" or _is_emoji(before)) and _is_emoji(after)


def _is_emoji(character: str) -> bool:
    code = ord(character) if character else 0
    return 0x1F000 <= code <= 0x1FAFF or 0x2600 <= code <= 0x27BF
