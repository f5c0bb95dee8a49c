"""Prompts with named variables: resolving an issue, reviewing a pull request. Pure but for files.

A repository replaces one by `.awo/prompts/<name>.md` on its base branch. `{variable}` is filled
in one pass; `{{` and `}}` are braces. Text from outside is always a marked block.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Literal

from agent_work_orders.errors import Refused
from agent_work_orders.security import untrusted

FOLDER = ".awo/prompts"
PROMPT_LIMIT_BYTES = 64 * 1024

Name = Literal["issue_resolution", "pull_request_review"]

VARIABLES: dict[Name, tuple[str, ...]] = {
    "issue_resolution": ("issueNumber", "title", "repoContext", "body", "labels", "author"),
    "pull_request_review": ("prTitle", "prBody", "files"),
}

_TOKEN = re.compile(r"\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_]*)\}")
# Numbers, logins and label lists that read as one word each; anything else is a block.
_PLAIN = re.compile(r"[A-Za-z0-9@#._/:+, -]{0,100}")
_SHORT = {"issueNumber", "labels", "author"}


def render(name: Name, values: Mapping[str, str], tree: Mapping[str, bytes] | None = None) -> str:
    """Raises `Refused` (`prompt_invalid`) for a file that cannot be used or a missing value."""
    template = _template(name, tree or {})

    def value(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        return _embedded(found[1], _given(name, found[1], values))

    text = _TOKEN.sub(value, template)
    return f"{untrusted.EXPLANATION}\n\n{text.strip()}\n"


def _template(name: Name, tree: Mapping[str, bytes]) -> str:
    path = f"{FOLDER}/{name}.md"
    content = tree.get(path)
    if content is None:
        packaged = files("agent_work_orders.command_loader") / "builtin" / "prompts"
        return (packaged / f"{name}.md").read_text("utf-8")
    if len(content) > PROMPT_LIMIT_BYTES:
        raise _invalid(path, f"it is larger than {PROMPT_LIMIT_BYTES // 1024} KiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _invalid(path, "it is not UTF-8 text") from error


def _given(name: Name, variable: str, values: Mapping[str, str]) -> str:
    known = VARIABLES[name]
    if variable not in known:
        close = difflib.get_close_matches(variable, known, n=1)
        meant = f", did you mean {{{close[0]}}}?" if close else f"; it has {', '.join(known)}"
        raise _invalid(f"{FOLDER}/{name}.md", f"there is no variable {{{variable}}}{meant}")
    if variable not in values:
        raise _invalid(f"{FOLDER}/{name}.md", f"no value was given for {{{variable}}}")
    return values[variable]


def _embedded(variable: str, value: str) -> str:
    if variable in _SHORT and _PLAIN.fullmatch(value):
        return value
    return untrusted.block(variable, value)


def _invalid(path: str, problem: str) -> Refused:
    return Refused(
        "prompt_invalid",
        f"The prompt file {path} cannot be used: {problem}",
        hint="Write a literal brace as {{ or }}.",
        path=path,
    )
