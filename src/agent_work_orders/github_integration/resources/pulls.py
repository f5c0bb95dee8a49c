"""Pull requests: found by number, or by branch and author; opened, updated, closed, merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from agent_work_orders.errors import NotFound, Permanent, Refused
from agent_work_orders.github_integration.forge import (
    ChangedFile,
    Proposal,
    PullRequest,
    Repository,
    Texts,
)
from agent_work_orders.github_integration.resources import markers, untrusted_text, wire
from agent_work_orders.github_integration.resources.resource import Resource

MergeMethod = Literal["merge", "squash", "rebase"]

_READY = """\
mutation($id: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { id isDraft } }
}"""
_AUTO_MERGE_STATE = """\
query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) { id merged autoMergeRequest { mergeMethod } }
  }
}"""
_AUTO_MERGE = """\
mutation($id: ID!, $method: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $method}) {
    pullRequest { id }
  }
}"""


class Pulls(Resource):
    async def find_pull_request(
        self,
        repository: Repository,
        key: str,
        head_branch: str,
        *,
        besides: frozenset[int] = frozenset(),
        settled: bool = True,
    ) -> PullRequest | None:
        async def look() -> PullRequest | None:
            owner = repository.full_name.partition("/")[0]
            found = await self._pages(
                repository,
                "pulls",
                wire.Pull,
                head=f"{owner}:{head_branch}",
                state="all",
                sort="created",
                direction="desc",
            )
            for one in sorted(found, key=lambda pull: -pull.number):
                mine = one.head.ref == head_branch and one.number not in besides
                if mine and await self._is_ours(one, key):
                    return one.as_pull_request()
            return None

        return await (self._look(look) if settled else look())

    async def open_pull_request(self, proposal: Proposal, key: str) -> PullRequest:
        body = {
            **self._words(proposal, key),
            "head": proposal.head_branch,
            "base": proposal.base_branch,
            "draft": proposal.draft,
        }
        try:
            made = await self._send("POST", proposal.repository, "pulls", body, creates=True)
        except Permanent as error:
            words = words_of_refusal(error)
            if "no commits between" in words:
                raise _no_changes(proposal) from error
            if proposal.draft and "draft pull requests are not supported" in words:
                raise _no_drafts(proposal) from error
            if "already exists" not in words:
                raise
            raise await self._exists(proposal) from error
        return wire.written(made, wire.Pull).as_pull_request()

    async def _exists(self, proposal: Proposal) -> Permanent:
        """The open one of these branches, in words."""
        owner = proposal.repository.full_name.partition("/")[0]
        found = await self._pages(
            proposal.repository,
            "pulls",
            wire.Pull,
            head=f"{owner}:{proposal.head_branch}",
            base=proposal.base_branch,
            state="open",
        )
        at = f" as #{found[0].number}" if found else ""
        return Permanent(
            "pull_request_exists",
            f"{proposal.head_branch} is offered already{at}, and not by this order",
            hint="Close that one, and retry the order.",
        )

    def texts(self, proposal: Proposal, key: str) -> Texts:
        words = self._words(proposal, key)
        return Texts(
            title=markers.fingerprint(words["title"]), body=markers.fingerprint(words["body"])
        )

    async def update_pull_request(
        self,
        number: int,
        proposal: Proposal,
        key: str,
        *,
        ours: Sequence[Texts],
        ready: bool = True,
    ) -> PullRequest:
        repository, path = proposal.repository, f"pulls/{number}"
        now = await self._pull(repository, number)
        written = {
            "title": {one.title for one in ours},
            "body": {one.body for one in ours},
        }
        shown = {"title": now.title, "body": now.body}
        changes = {
            name: words
            for name, words in self._words(proposal, key).items()
            if markers.fingerprint(shown[name]) in written[name] and shown[name] != words
        }
        if changes:
            now = wire.written(await self._send("PATCH", repository, path, changes), wire.Pull)
        if now.draft and not proposal.draft and ready:
            return await self.mark_ready(repository, number)
        return now.as_pull_request()

    async def mark_ready(self, repository: Repository, number: int) -> PullRequest:
        pull = await self._pull(repository, number)
        if pull.draft and pull.state == "open":
            await self._graphql(repository, _READY, writes=True, id=pull.node_id)
            pull = await self._pull(repository, number)
        return pull.as_pull_request()

    async def close_pull_request(self, repository: Repository, number: int, reason: str) -> None:
        # The reason is the order's to tell: a comment would be a second write without a key.
        pull = await self._pull(repository, number)
        if pull.state == "open":
            await self._send("PATCH", repository, f"pulls/{number}", {"state": "closed"})

    async def pull_request(self, repository: Repository, number: int) -> PullRequest:
        return (await self._pull(repository, number)).as_pull_request()

    async def files(self, repository: Repository, number: int) -> list[ChangedFile]:
        found = await self._pages(repository, f"pulls/{number}/files", wire.File)
        return [one.as_changed_file() for one in found]

    async def merge(
        self, repository: Repository, number: int, *, head_sha: str, method: MergeMethod
    ) -> str:
        pull = await self._pull(repository, number)
        if pull.merged_at is not None:
            return pull.merge_commit_sha or ""
        asked = {"sha": head_sha, "merge_method": method}
        try:
            answer = await self._send("PUT", repository, f"pulls/{number}/merge", asked)
        except Permanent as error:
            status = error.context.get("status")
            if status not in (405, 409, 422):
                raise
            pull = await self._pull(repository, number)
            if pull.merged_at is not None:
                return pull.merge_commit_sha or ""
            if pull.head.sha != head_sha:
                raise _head_changed(number, head_sha, pull.head.sha) from error
            raise _merge_refused(number, error) from error
        return wire.written(answer, wire.Merged).sha

    async def enable_auto_merge(
        self, repository: Repository, number: int, method: MergeMethod
    ) -> None:
        owner, _, name = repository.full_name.partition("/")
        found = await self._graphql(
            repository, _AUTO_MERGE_STATE, writes=False, owner=owner, name=name, number=number
        )
        pull = (found.get("repository") or {}).get("pullRequest")
        if pull is None:
            raise _unknown(number)
        if pull.get("autoMergeRequest") or pull.get("merged"):
            return
        try:
            await self._graphql(
                repository, _AUTO_MERGE, writes=True, id=pull["id"], method=method.upper()
            )
        except Permanent as error:
            if error.code != "github_refused":
                raise
            raise _merge_refused(number, error) from error

    async def _pull(self, repository: Repository, number: int) -> wire.Pull:
        try:
            return wire.read(await self._get(repository, f"pulls/{number}"), wire.Pull)
        except NotFound as error:
            raise _unknown(number) from error

    async def _is_ours(self, pull: wire.Pull, key: str) -> bool:
        """Opened by our account from a branch that only this order has. Not so in the name of
        another key: a plain token's account may belong to several of us."""
        return not markers.of_another(pull.body, key) and await self._ours(pull.user)

    def _words(self, proposal: Proposal, key: str) -> dict[str, str]:
        return {
            "title": untrusted_text.line(proposal.title, markers.TITLE_LIMIT),
            "body": self._body(proposal, key),
        }

    def _body(self, proposal: Proposal, key: str) -> str:
        closes = f"Closes #{proposal.closes}" if proposal.closes else ""
        facts = untrusted_text.harmless(proposal.facts, self._hosts)
        ours = [facts, self._link(proposal.order_id), closes]
        return self._seal(proposal.body, key, "\n\n".join(filter(None, ours)))


def words_of_refusal(error: Refused | Permanent) -> str:
    """The service's words, in lower case."""
    errors = error.context.get("errors") or []
    return " ".join([str(error.context.get("said", "")), *map(str, errors)]).lower()


def _no_drafts(proposal: Proposal) -> Permanent:
    return Permanent(
        "drafts_unsupported",
        f"{proposal.repository.full_name} has no draft pull requests (private, in a small plan)",
        hint="Open it without `draft`, or leave the task out.",
    )


def _unknown(number: int) -> NotFound:
    return NotFound(
        "review_unknown",
        f"There is no pull request #{number}",
        hint="`awo show ORDER` names the pull request of an order.",
    )


def _no_changes(proposal: Proposal) -> Permanent:
    return Permanent(
        "no_changes",
        f"{proposal.head_branch} has no commit that {proposal.base_branch} lacks",
        hint="Read the transcript; say more precisely what to change and retry.",
    )


def _head_changed(number: int, ours: str, theirs: str) -> Permanent:
    return Permanent(
        "merge_head_changed",
        f"#{number} is at {theirs[:12]} now, not at {ours[:12]} as when it was decided",
        hint="Look at what was pushed since, then merge again.",
    )


def _merge_refused(number: int, error: Permanent) -> Permanent:
    words = "; ".join([str(error.context.get("said", "")), *error.context.get("errors", [])])
    return Permanent(
        "merge_refused",
        f"GitHub does not merge #{number}: {words.strip('; ') or error.message}",
        hint="Meet what the branch requires (reviews, checks, no conflict); nothing is bypassed.",
    )
