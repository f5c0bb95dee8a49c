"""Every write to GitHub that the product can send: the rows of the matrix.

`sent_by` names the places in the code; `places` finds them there, so that a write without a row is
noticed. A row is told from others by its operation and a text that its body contains.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from github_simulator.outside.faults import Fault

Phase = Literal["making", "undoing"]
Moment = Literal["before", "unanswered", "answered"]
ONE, ASKS = "one", "at most one, asks a person"
SOURCE = Path(__file__).parents[2] / "src" / "agent_work_orders"
METHODS = ("POST", "PUT", "PATCH", "DELETE")


class Write(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    operation: str
    contains: str = ""
    sent_by: str
    phase: Phase = "making"
    outcome: str = ONE


def _write(name: str, operation: str, contains: str, sent_by: str) -> Write:
    return Write(name=name, operation=operation, contains=contains, sent_by=sent_by)


def _undo(name: str, operation: str, contains: str, sent_by: str) -> Write:
    return Write(
        name=name, operation=operation, contains=contains, sent_by=sent_by, phase="undoing"
    )


COMMENT = ("issues/create-comment", "conversation.add_comment POST")
WRITES: tuple[Write, ...] = (
    _write("push the branch", "git/receive-pack", "", "push.push"),
    _write("open a pull request", "pulls/create", "", "pulls.open_pull_request POST"),
    _write("update it", "pulls/update", '"body"', "pulls.update_pull_request PATCH"),
    _write("mark it ready", "graphql", "markPullRequestReady", "pulls.mark_ready GRAPHQL"),
    _write("review it on its lines", "pulls/create-review", "", "reviews.add_review POST"),
    _write("resolve a thread", "graphql", "resolveReviewThread", "reviews.resolve_thread GRAPHQL"),
    _write(
        "turn on auto-merge",
        "graphql",
        "enablePullRequestAutoMerge",
        "pulls.enable_auto_merge GRAPHQL",
    ),
    _write("merge", "pulls/merge", "", "pulls.merge PUT"),
    _write("progress comment", COMMENT[0], ":progress-comment -->", COMMENT[1]),
    _write(
        "edit it in place",
        "issues/update-comment",
        ":progress-comment -->",
        "conversation.edit_comment PATCH",
    ),
    _write("comment of a task", COMMENT[0], ":comment:comment:", COMMENT[1]),
    _write("answer to a command", COMMENT[0], "awo:say:", COMMENT[1]),
    _write("comment as feedback", COMMENT[0], "awo:feedback:", COMMENT[1]),
    _write("progress check", "checks/create", ":progress-check:", "checks.add_check POST"),
    _write("conclude it", "checks/update", ":progress-check:", "checks.edit_check PATCH"),
    _write("check of a task", "checks/create", ":check:extra:", "checks.add_check POST"),
    _write("annotations beyond 50", "checks/update", '"annotations"', "checks._annotate PATCH"),
    _write("check as feedback", "checks/create", '"feedback:', "checks.add_check POST"),
    _write("status of a commit", "repos/create-commit-status", "", "checks.set_status POST"),
    _write("add a label", "issues/add-labels", "", "conversation.set_labels POST"),
    _write("remove a label", "issues/remove-label", "", "conversation.set_labels DELETE"),
    _write("react to an issue", "reactions/create-for-issue", "", "conversation.react POST"),
    _write(
        "react to a comment", "reactions/create-for-issue-comment", "", "conversation.react POST"
    ),
    _write("close an issue", "issues/update", "", "conversation.update_issue PATCH"),
    _write("change settings", "repos/update", "", "administration.change_settings PATCH"),
    _write("protect a branch", "repos/update-branch-protection", "", "administration.protect PUT"),
    Write(
        name="start a workflow",
        operation="actions/create-workflow-dispatch",
        sent_by="administration.dispatch POST",
        outcome=ASKS,
    ),
    _undo("undo: close the pull request", "pulls/update", "", "pulls.close_pull_request PATCH"),
    _undo("undo: delete the branch", "git/receive-pack", "", "push.delete"),
    _undo("undo: take labels off", "issues/remove-label", "", "conversation.set_labels DELETE"),
    _undo("undo: put labels back", "issues/add-labels", "", "conversation.set_labels POST"),
    _undo("undo: reopen the issue", "issues/update", "", "conversation.update_issue PATCH"),
    _undo("undo: restore settings", "repos/update", "", "administration.change_settings PATCH"),
)
NO_WRITES = {
    "reviews.dismiss_reviews PUT": "only of those that still stand: repeated, it finds none",
    "connection.take_over POST": "takes a code that is good once; a person begins again",
    "administration.release_notes POST": "asks for a text; nothing is made",
    "app_credentials._mint POST": "asks for a token, which ends by itself",
    "app_credentials.revoke DELETE": "gives such a token back",
    "app_hook.redeliver POST": "asks for a delivery again, which is taken once",
    "client.graphql POST": "carries what others send",
}
"""Requests with a method of writing of which no second one can be left on GitHub."""


def _strikes(**more: object) -> Callable[[Write], Fault]:
    def strike(write: Write) -> Fault:
        given = {"operation": write.operation, "contains": write.contains, **more}
        return msgspec.convert(given, Fault)

    return strike


FAULTS: dict[str, Callable[[Write], Fault]] = {
    "closed after it was done": _strikes(kind="drop", applied=True),
    "reset after it was done": _strikes(kind="reset", applied=True),
    "500 after it was done": _strikes(kind="status", applied=True, status=500),
    "502 after it was done": _strikes(kind="status", applied=True, status=502),
    "no answer in time": _strikes(kind="hang", applied=True, seconds=8.0),
    "answer cut": _strikes(kind="truncated"),
    "a page instead of JSON": _strikes(kind="html", applied=True),
    "empty answer": _strikes(kind="empty", applied=True),
    "502 before it was done": _strikes(kind="status", status=502),
}
MOMENTS: dict[str, Moment] = {
    "killed before it was done": "before",
    "killed when done, not answered": "unanswered",
    "killed when answered": "answered",
}


def kill(moment: Moment) -> Callable[[Write], Fault]:
    """What holds the product still until it is killed; an answer goes through unharmed."""
    if moment == "answered":
        return _strikes(kind="lag", reads=0)
    return _strikes(kind="hang", applied=moment == "unanswered")


def places() -> set[str]:
    """Where the code sends something that is no read: `module.function METHOD`."""
    found = {
        f"{file.stem}.{name} {method}"
        for file in (SOURCE / "github_integration").rglob("*.py")
        for name, method in _sending(ast.parse(file.read_text("utf-8")))
    }
    pushing = ast.parse((SOURCE / "repositories" / "push.py").read_text("utf-8"))
    for function, call in _calls(pushing):
        if isinstance(call.func, ast.Name) and call.func.id == "_send":
            found.add(f"push.{function}")
    return found


def _sending(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for function, call in _calls(tree):
        given = [*call.args, *(word.value for word in call.keywords)]
        for value in given:
            if isinstance(value, ast.Constant) and value.value in METHODS:
                yield function, str(value.value)
        writes = [word.value for word in call.keywords if word.arg == "writes"]
        named = isinstance(call.func, ast.Attribute) and call.func.attr == "_graphql"
        if named and any(isinstance(one, ast.Constant) and one.value for one in writes):
            yield function, "GRAPHQL"


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    yield function.name, node
