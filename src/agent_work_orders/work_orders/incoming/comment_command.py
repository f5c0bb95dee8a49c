"""`/awo …` in a comment: an exact grammar on the first line, nothing else. Pure.

Free text is never a command: the line starts with `/awo`, a known verb follows, and the arguments
have their forms. A line that starts so and does not fit is `Malformed`, never guessed at.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

import msgspec

Verb = Literal["run", "review", "test", "approve", "reject", "cancel", "retry", "help"]
VERBS: tuple[str, ...] = get_args(Verb)
MAX_LINE_CHARS = 1_000
MAX_REASON_CHARS = 500
SHORTEST_HASH = 12
"""Characters of a subject's hash that must be named; 48 bits, and it must fit only one."""
_LINE = re.compile(r"/awo(?:[ \t]+(?P<rest>.*))?")
_WORKFLOW = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_ORDER = re.compile(r"wo-[a-z2-7]{4,16}")
_HASH = re.compile(rf"[0-9a-f]{{{SHORTEST_HASH},64}}")

USAGE = """\
`/awo run [workflow]` · `/awo review` · `/awo test` · `/awo cancel [order]` · `/awo retry [order]`
`/awo approve HASH` · `/awo reject HASH [reason]` · `/awo help`
On the first line of a comment, by people with write access."""


class CommentCommand(msgspec.Struct, frozen=True, kw_only=True):
    verb: Verb
    workflow: str = ""
    order: str = ""
    """An order's id, or its beginning."""
    subject_hash: str = ""
    reason: str = ""
    more: str = ""
    """The lines after the first: data, for the verbs that start something."""


class Malformed(msgspec.Struct, frozen=True, kw_only=True):
    """Meant for us, and not understood."""

    why: str


def parse(text: str) -> CommentCommand | Malformed | None:
    """None for a comment that does not talk to us."""
    first, _, more = text.partition("\n")
    line = first.rstrip("\r\t ")
    found = _LINE.fullmatch(line[: MAX_LINE_CHARS + 1])
    if found is None:
        return None
    if len(line) > MAX_LINE_CHARS:
        return Malformed(why="the line is too long")
    words = (found["rest"] or "").split()
    verb, arguments = (words[0], words[1:]) if words else ("help", [])
    if verb not in VERBS:
        return Malformed(why=f"there is no command {verb[:40]!r}")
    return _command(verb, arguments, more.strip())


def _command(verb: str, arguments: list[str], more: str) -> CommentCommand | Malformed:
    match verb:
        case "run" if _at_most_one(arguments, _WORKFLOW):
            return CommentCommand(verb="run", workflow="".join(arguments), more=more)
        case "review" if not arguments:
            return CommentCommand(verb="review", more=more)
        case "test" if not arguments:
            return CommentCommand(verb="test", more=more)
        case "cancel" if _at_most_one(arguments, _ORDER):
            return CommentCommand(verb="cancel", order="".join(arguments))
        case "retry" if _at_most_one(arguments, _ORDER):
            return CommentCommand(verb="retry", order="".join(arguments))
        case "approve" if len(arguments) == 1 and _HASH.fullmatch(arguments[0]):
            return CommentCommand(verb="approve", subject_hash=arguments[0])
        case "reject" if arguments and _HASH.fullmatch(arguments[0]):
            reason = " ".join(arguments[1:])[:MAX_REASON_CHARS]
            return CommentCommand(verb="reject", subject_hash=arguments[0], reason=reason)
        case "help" if not arguments:
            return CommentCommand(verb="help")
    if verb in ("approve", "reject"):
        return Malformed(why=f"{verb} needs the hash of what is asked, as it was shown")
    return Malformed(why=f"these are no arguments of {verb}")


def _at_most_one(arguments: list[str], form: re.Pattern[str]) -> bool:
    return not arguments or (len(arguments) == 1 and form.fullmatch(arguments[0]) is not None)
