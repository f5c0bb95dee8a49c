"""What an event asks for: a pure decision from the event and the rules. Nobody is believed yet.

`Start` and `Command` are wishes of a person (`by`), who must still be found to have write access;
only a push (who pushed could write) and a check that a bot reports as failed, where the
repository's own rules name them, need nobody. Edits never ask for anything; neither do bots, nor
our own account. What is asked is named by `key`: by the thing
that asked (a comment's id, the moment of a label), so that a second delivery of it is the same.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_work_orders.ids import ORDER_ID
from agent_work_orders.security import untrusted
from agent_work_orders.state_manager.deliveries import DAY_MS
from agent_work_orders.work_orders.incoming import comment_command, rules
from agent_work_orders.work_orders.incoming.comment_command import CommentCommand, Malformed, Verb
from agent_work_orders.work_orders.incoming.event_types import EVENT_TYPES, could_ask
from agent_work_orders.work_orders.incoming.github_event import GitHubEvent, Person
from agent_work_orders.work_orders.incoming.rules import Rules

STALE_MS = 7 * DAY_MS
"""GitHub redelivers for three days; an older event is a replay, whatever its signature says."""
FAILURES = ("failure", "timed_out")
MARK = "<!-- awo:"

Access = Literal["lost", "back"]
Proof = Literal["reach", "archived", "none"]
"""What the hub must say before access counts as lost, as events come late and again: that it is
out of reach, that it is archived, or nothing."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    workflow: str
    purpose: str
    subject: str
    key: str
    prompt: str
    title: str
    by: Person | None
    """Who must have write access; None when the rules alone ask."""
    caused_by: Person
    """Whose doing it comes from, also when the rules alone ask: not who approves it."""
    commanded: bool = False
    """By a comment: also when an order about it is open, and answered there."""
    supersedes: bool = False
    """An open order about an older state of the subject is cancelled."""
    label: str = ""
    """Which must still be there."""
    base_branch: str | None = None


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """Something to be done with orders that are there."""

    verb: Verb
    subject: str
    key: str
    by: Person
    said: CommentCommand


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A comment that was meant for us and not understood."""

    why: str
    key: str
    by: Person


class AccessChanged(msgspec.Struct, frozen=True, kw_only=True):
    access: Access
    why: str
    repositories: tuple[tuple[int, str], ...]
    """Ids and names."""
    account: str = ""
    """Whose repositories are all meant, when an installation names none of them."""
    proof: Proof = "reach"


class Ignore(msgspec.Struct, frozen=True, kw_only=True):
    why: str
    audited: bool = False
    """Whether somebody asked for something and was not heard."""


Decision = Start | Command | Answer | AccessChanged | Ignore


def decide(event: GitHubEvent, given: Rules, our_login: str, received_at_ms: int) -> Decision:
    """`our_login` is the account that our own writes carry."""
    kind = EVENT_TYPES[event.name].kind
    if kind == "access":
        return access_change(event) or Ignore(why=f"{event.name}.{event.action} asks for nothing")
    if event.action in ("edited", "deleted"):
        return Ignore(why="edits ask for nothing")
    if (old := stale(event, received_at_ms)) is not None:
        return old
    if same_login(event.sender.login, our_login):
        return Ignore(why="our own doing")
    match kind:
        case "push":
            return _push(event, given)
        case "check":
            return _check(event, given, our_login)
    if event.sender.bot:
        return Ignore(why=f"{event.sender.login} is a bot", audited=True)
    match kind:
        case "issue":
            return _issue(event, given, our_login)
        case "pull":
            return _pull(event, given)
    return _remark(event, given)


def stale(event: GitHubEvent, received_at_ms: int) -> Ignore | None:
    if event.at_ms is None or event.at_ms >= received_at_ms - STALE_MS:
        return None
    return Ignore(why="stale: it happened long before it came", audited=True)


class _Text(msgspec.Struct):
    body: str | None = None


class _End(msgspec.Struct):
    conclusion: str | None = None


class _Glance(msgspec.Struct):
    action: str = ""
    comment: _Text | None = None
    review: _Text | None = None
    check_run: _End | None = None
    check_suite: _End | None = None


_GLANCE = msgspec.json.Decoder(_Glance)


def asks_nothing(name: str, body: bytes) -> bool:
    """Whether a glance tells that nothing is to be done: an eighth of the cost of reading it. When
    in doubt it is read. A push may have changed the rules that are remembered."""
    try:
        seen = _GLANCE.decode(body)
    except (msgspec.MsgspecError, ValueError):
        return False
    known = EVENT_TYPES.get(name)
    if known is None:
        return False
    match known.kind:
        case "issue" | "pull":
            return not could_ask(name, seen.action)
        case "check":
            ended = seen.check_run if name == "check_run" else seen.check_suite
            failed = ended is not None and ended.conclusion in FAILURES
            return seen.action != "rerequested" and not (seen.action == "completed" and failed)
        case "remark":
            said = seen.review if known.text_in == "review" else seen.comment
            return said is None or not (said.body or "").startswith("/awo")
    return False


def may_ask(event: GitHubEvent) -> bool:
    """Whether it is worth asking the hub anything: most deliveries are about nothing of ours."""
    if not could_ask(event.name, event.action):
        return False
    match EVENT_TYPES[event.name].kind:
        case "issue" | "pull":
            return True
        case "push":
            return bool(event.branch) and not event.deleted
        case "check":
            failed = event.check is not None and event.check.conclusion in FAILURES
            return event.action == "rerequested" or failed
        case "remark":
            return event.remark is not None and event.remark.text.startswith("/awo")
    return False


def access_change(event: GitHubEvent) -> AccessChanged | None:
    """Whether we can reach some repositories no longer, or again."""
    here = ((event.repository_id, event.full_name),)
    match event.name, event.action:
        case "installation", "deleted" | "suspend":
            why = "removed" if event.action == "deleted" else "suspended"
            return AccessChanged(
                access="lost",
                why=f"the installation was {why}",
                repositories=event.repositories,
                account=event.account,
            )
        case "installation", "unsuspend" | "created":
            return AccessChanged(
                access="back",
                why="the installation is back",
                repositories=event.repositories,
                account=event.account,
            )
        case "installation_repositories", "removed":
            return AccessChanged(
                access="lost",
                why="the repository was taken out of the installation",
                repositories=event.repositories,
            )
        case "installation_repositories", "added":
            return AccessChanged(
                access="back", why="the repository was added", repositories=event.repositories
            )
        case "repository", "renamed" | "transferred" | "archived" | "deleted":
            # What has another name is reached by its old one too, but not what orders push to.
            needed: dict[str, Proof] = {"archived": "archived", "deleted": "reach"}
            return AccessChanged(
                access="lost",
                why=f"the repository was {event.action}",
                repositories=here,
                proof=needed.get(event.action, "none"),
            )
        case "repository", "unarchived":
            return AccessChanged(access="back", why="the repository is back", repositories=here)
    return None


def same_login(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def _issue(event: GitHubEvent, given: Rules, our_login: str) -> Decision:
    if event.action == "labeled" and event.label in given.labels:
        return _labeled(event, given)
    if event.action == "assigned" and same_login(event.assignee, our_login) and given.assignment:
        return _start(event, given.assignment, "run", f"assigned:{event.at_ms or 0}")
    return Ignore(why=f"no rule for issues.{event.action}")


def _labeled(event: GitHubEvent, given: Rules) -> Start:
    key = f"label:{event.label}:{event.at_ms or 0}"
    start = _start(event, given.labels[event.label], "run", key)
    return msgspec.structs.replace(start, label=event.label)


def _pull(event: GitHubEvent, given: Rules) -> Decision:
    if event.action == "labeled" and event.label in given.labels:
        return _labeled(event, given)
    for rule in given.pull_request:
        wanted = event.action in rule.on and rule.takes(event.base_branch, event.default_branch)
        if wanted and (rule.drafts or not event.draft):
            start = _start(event, rule.workflow, "review", "head:")
            return msgspec.structs.replace(start, supersedes=True)
    return Ignore(why=f"no rule for pull_request.{event.action}")


def _push(event: GitHubEvent, given: Rules) -> Decision:
    if not event.branch or event.deleted or _ours(event.branch):
        return Ignore(why="no branch that rules speak of")
    for rule in given.push:
        if rule.takes(event.branch, event.default_branch):
            prompt = f"Commit {event.head_sha} was pushed."
            start = _start(event, rule.workflow, "push", event.head_sha, prompt=prompt)
            return msgspec.structs.replace(start, by=None, base_branch=event.branch)
    return Ignore(why="no rule for this push")


def _check(event: GitHubEvent, given: Rules, our_login: str) -> Decision:
    check = event.check
    assert check is not None
    ours = same_login(f"{check.app}[bot]", our_login)
    if event.action == "rerequested":
        if event.sender.bot:
            return Ignore(why=f"{event.sender.login} is a bot", audited=True)
        return _rerun(event)
    failed = event.action == "completed" and check.conclusion in FAILURES
    if not failed or ours or not check.branch or _ours(check.branch):
        return Ignore(why="no failed check of a branch that rules speak of")
    for rule in given.check_failure:
        if rule.takes(check.branch, event.default_branch) and rules.fits(check.name, rule.checks):
            prompt = f"A check failed at commit {check.head_sha}:\n" + untrusted.block(
                "name of the check", check.name
            )
            # One order for a commit, however many of its jobs fail, and whenever.
            key = f"{check.head_sha}:{rule.workflow}"
            start = _start(event, rule.workflow, "check", key, prompt=prompt)
            by = None if event.sender.bot else event.sender
            return msgspec.structs.replace(start, by=by, base_branch=check.branch)
    return Ignore(why="no rule for this check")


def _rerun(event: GitHubEvent) -> Decision:
    """The button beside a check of ours: its order again. Which order that is, the check says."""
    check = event.check
    assert check is not None
    found = ORDER_ID.search(check.external_id)
    subject = f"pull:{check.pulls[0]}" if check.pulls else event.subject
    if found is None and not (check.suite and check.pulls):
        return Ignore(why="not a check of ours")
    said = CommentCommand(verb="retry", order=found[0] if found else "")
    key = f"rerun:{check.check_id}:{event.at_ms or 0}"
    return Command(verb="retry", subject=subject, key=key, by=event.sender, said=said)


def unanswered(event: GitHubEvent, our_login: str) -> Ignore | None:
    """Why nobody is told that the rules cannot be read; None when the sender is a person who asked
    for something (and must still be found to have write access)."""
    if same_login(event.sender.login, our_login):
        return Ignore(why="our own doing")
    if event.sender.bot:
        return Ignore(why=f"{event.sender.login} is a bot", audited=True)
    if event.remark is not None:
        said = _command_in(event)
        return said if isinstance(said, Ignore) else None
    ours = event.action == "assigned" and same_login(event.assignee, our_login)
    return None if ours or event.action == "labeled" else Ignore(why="nobody asked")


def _command_in(event: GitHubEvent) -> CommentCommand | Malformed | Ignore:
    """The command that a person wrote themselves."""
    remark = event.remark
    if remark is None or not could_ask(event.name, event.action):
        return Ignore(why=f"no rule for {event.name}.{event.action}")
    said = comment_command.parse(remark.text)
    if said is None:
        return Ignore(why="not a command")
    if remark.author.user_id != event.sender.user_id or remark.author.bot or remark.by_app:
        return Ignore(why="a command that no person wrote themselves", audited=True)
    return Ignore(why="our own doing") if MARK in remark.text else said


def _remark(event: GitHubEvent, given: Rules) -> Decision:
    remark, said = event.remark, _command_in(event)
    if isinstance(said, Ignore):
        return said
    if remark is None or not given.commands:
        return Ignore(why="not a command")
    key = f"{remark.kind}:{remark.comment_id}"
    if isinstance(said, Malformed):
        return Answer(why=said.why, key=key, by=event.sender)
    if said.verb not in rules.STARTING:
        return Command(verb=said.verb, subject=event.subject, key=key, by=event.sender, said=said)
    workflow = said.workflow or given.commands[said.verb]
    start = _start(event, workflow, said.verb, key, more=said.more)
    return msgspec.structs.replace(start, commanded=True)


def _start(
    event: GitHubEvent, workflow: str, purpose: str, key: str, *, prompt: str = "", more: str = ""
) -> Start:
    return Start(
        workflow=workflow,
        purpose=purpose,
        subject=event.subject,
        key=key,
        prompt=prompt or _prompt(event, purpose, more),
        title=event.title,
        by=event.sender,
        caused_by=event.sender,
    )


def _prompt(event: GitHubEvent, purpose: str, more: str) -> str:
    """The subject as it was at this moment, as data. The first words are ours: a title that looks
    like a command of an agent is none."""
    kind = "pull request" if event.is_pull else "issue"
    asked = {"run": "Resolve", "review": "Review", "test": "Test"}[purpose]
    parts = [f"{asked} the {kind} #{event.number} of {event.full_name}."]
    parts.append(untrusted.block(f"{kind} title", event.title))
    if event.body.strip():
        parts.append(untrusted.block(f"{kind} text", event.body))
    if more:
        parts.append(untrusted.block("comment", more[:4_000]))
    return "\n\n".join(parts)


def _ours(branch: str) -> bool:
    """A branch of an order: what happens there must not start orders, or they would never end."""
    return ORDER_ID.search(branch) is not None
