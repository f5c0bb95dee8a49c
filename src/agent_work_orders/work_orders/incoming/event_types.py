"""Which events of GitHub we hear, and all that is known of each before it is read. Pure.

An event that is not here is accepted and ignored. A new one gets its line here; what it may ask for
is decided in triggers.py.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["issue", "pull", "remark", "push", "check", "access"]

PULL_ACTIONS = ("opened", "synchronize", "reopened", "ready_for_review")
"""Of a pull request, that rules can name."""


class EventType(msgspec.Struct, frozen=True, kw_only=True):
    kind: Kind
    about: Literal["issue", "pull_request", ""] = ""
    """The member of the payload that says what it is about."""
    actions: tuple[str, ...] | None = None
    """Those that are ever acted on; None for all of them."""
    text_in: str = ""
    """The member that holds what a person wrote."""
    remark: str = ""
    """What such a text is called here: ids are unique within one kind."""
    by_machines: bool = False
    """Most of them; what people ask for goes before."""


EVENT_TYPES = {
    "issues": EventType(kind="issue", about="issue", actions=("labeled", "assigned")),
    "pull_request": EventType(
        kind="pull", about="pull_request", actions=(*PULL_ACTIONS, "labeled")
    ),
    "issue_comment": EventType(
        kind="remark", about="issue", actions=("created",), text_in="comment", remark="comment"
    ),
    "pull_request_review": EventType(
        kind="remark",
        about="pull_request",
        actions=("submitted",),
        text_in="review",
        remark="review",
    ),
    "pull_request_review_comment": EventType(
        kind="remark",
        about="pull_request",
        actions=("created",),
        text_in="comment",
        remark="review_comment",
    ),
    "push": EventType(kind="push", by_machines=True),
    "check_run": EventType(kind="check", actions=("rerequested", "completed"), by_machines=True),
    "check_suite": EventType(kind="check", actions=("rerequested", "completed"), by_machines=True),
    "installation": EventType(kind="access"),
    "installation_repositories": EventType(kind="access"),
    "repository": EventType(kind="access"),
}


def could_ask(name: str, action: str) -> bool:
    """Whether an event of this name and action is ever acted on. More is not known of it yet."""
    known = EVENT_TYPES.get(name)
    return known is not None and (known.actions is None or action in known.actions)
