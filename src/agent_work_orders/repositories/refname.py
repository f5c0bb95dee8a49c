"""Names that flow into git's arguments: branches, commits, issue numbers."""

from __future__ import annotations

import re

from agent_work_orders.errors import Refused
from agent_work_orders.ids import ORDER_ID

# Stricter than git: no shell or glob characters, so that a name is harmless wherever it is shown.
_BRANCH = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_./+@#=,-]{0,198}[A-Za-z0-9_+@#=-])?")
_PREFIX = re.compile(r"[a-z][a-z0-9]{0,15}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ISSUE = re.compile(r"[1-9][0-9]{0,9}")
_LABEL = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")


def check_branch(name: str, *, field: str = "base_branch") -> str:
    """The name unchanged, or Refused `branch_name_invalid`."""
    bad = (
        not _BRANCH.fullmatch(name)
        or any(token in name for token in ("..", "//", "@{", "/."))
        or any(part.endswith((".lock", ".")) or part.startswith("-") for part in name.split("/"))
        or name in ("HEAD", "@")
    )
    if bad:
        raise Refused(
            "branch_name_invalid",
            f"Not a branch name: {name[:80]!r}",
            hint="Letters, digits and _ . / + - are allowed; no leading '-', '..' or '.lock'.",
            field=field,
        )
    return name


def check_issue_number(text: str) -> str:
    """Digits without leading zeros, or Refused `issue_number_invalid`."""
    if not _ISSUE.fullmatch(text):
        raise Refused(
            "issue_number_invalid",
            f"Not an issue number: {text[:40]!r}",
            hint="Give the number alone, for example 42.",
            field="github_issue_number",
        )
    return text


def check_sha(text: str, *, field: str = "sha") -> str:
    if not _SHA.fullmatch(text):
        raise Refused(
            "commit_id_invalid",
            f"Not a full commit id: {text[:80]!r}",
            hint="Give all 40 hexadecimal digits.",
            field=field,
        )
    return text


def is_sha(text: str) -> bool:
    return _SHA.fullmatch(text) is not None


def check_label(name: str, *, field: str = "name") -> str:
    """The last part of a ref under an order's namespace (a snapshot's name, for example)."""
    if not _LABEL.fullmatch(name) or ".." in name or name.endswith((".lock", ".")):
        raise Refused(
            "label_invalid",
            f"Not a name for a reference: {name[:80]!r}",
            hint="Lowercase letters, digits, '_', '.' and '-', starting with a letter or digit.",
            field=field,
        )
    return name


def branch_name(prefix: str, issue_number: str | None, order_id: str) -> str:
    """`feat-issue-42-wo-…` or `feat-wo-…`: made by the host, never by the agent."""
    if not _PREFIX.fullmatch(prefix):
        raise Refused(
            "branch_name_invalid",
            f"Not a branch prefix: {prefix[:40]!r}",
            hint="A short lowercase word, for example feat or fix.",
            field="prefix",
        )
    check_order(order_id)
    if issue_number is None:
        return f"{prefix}-{order_id}"
    return f"{prefix}-issue-{check_issue_number(issue_number)}-{order_id}"


def check_order(order_id: str) -> str:
    if not ORDER_ID.fullmatch(order_id):
        raise Refused(
            "order_id_invalid",
            f"Not an order id: {order_id[:40]!r}",
            hint="An order id is `wo-` and 16 letters or digits.",
            field="order_id",
        )
    return order_id


def order_ref(order_id: str, *parts: str) -> str:
    """A reference in the order's own namespace of the mirror."""
    return "/".join(("refs/awo/orders", check_order(order_id), *parts))
