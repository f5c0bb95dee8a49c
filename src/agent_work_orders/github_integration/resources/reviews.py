"""Reviews of pull requests: one request with all its line comments, and their threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_work_orders.errors import NotFound, Permanent
from agent_work_orders.github_integration.forge import (
    ChangedFile,
    LineComment,
    Repository,
    Review,
    Thread,
)
from agent_work_orders.github_integration.resources import markers, threads, untrusted_text, wire
from agent_work_orders.github_integration.resources.patch import Lines, lines
from agent_work_orders.github_integration.resources.pulls import Pulls

# More in one review are not read by anybody; the rest goes into the body.
COMMENTS_LIMIT = 50
THREAD_PAGES = 30
_MOVED = "This was read at `{}`; the branch was moved to `{}` meanwhile."

_THREADS = """\
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id
          isResolved
          path
          line
          comments(first: 1) { nodes { author { login } } }
        }
      }
    }
  }
}"""
_RESOLVE = """\
mutation($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } }
}"""


class Reviews(Pulls):
    async def find_review(self, repository: Repository, number: int, key: str) -> int | None:
        async def look() -> int | None:
            for one in await self._pages(repository, f"pulls/{number}/reviews", wire.Review):
                if markers.carries(one.body, key) and await self._ours(one.user):
                    return one.id
            return None

        return await self._look(look)

    async def add_review(
        self, repository: Repository, number: int, review: Review, key: str
    ) -> int:
        fitting, others = fit(review.comments, await self.files(repository, number))
        body: dict[str, Any] = {
            "commit_id": review.head_sha,
            "event": review.event,
            "body": self._seal(_with_others(review.body, others), key),
            "comments": [self._comment(one) for one in fitting],
        }
        path = f"pulls/{number}/reviews"
        try:
            made = await self._send("POST", repository, path, body, creates=True)
        except Permanent as error:
            if error.context.get("status") != 422:
                raise
            now = (await self._pull(repository, number)).head.sha
            if not fitting and now == review.head_sha:
                raise
            # The diff has changed since it was read: the service refuses all for one line, or for
            # a commit that a force-push took out.
            said = _with_others(review.body, review.comments)
            if now != review.head_sha:
                body["commit_id"] = now
                said = f"{_MOVED.format(review.head_sha[:12], now[:12])}\n\n{said}"
            body["comments"] = []
            body["body"] = self._seal(said, key)
            made = await self._send("POST", repository, path, body, creates=True)
        return wire.written(made, wire.Review).id

    async def dismiss_reviews(self, repository: Repository, number: int, reason: str) -> int:
        path, dismissed = f"pulls/{number}/reviews", 0
        for one in await self._pages(repository, path, wire.Review):
            # A plain token's account has reviews of a person too: ours are marked.
            ours = markers.any_of_ours(one.body) and await self._ours(one.user)
            if ours and one.state == "CHANGES_REQUESTED":
                said = {"message": reason, "event": "DISMISS"}
                await self._send("PUT", repository, f"{path}/{one.id}/dismissals", said)
                dismissed += 1
        return dismissed

    async def threads(self, repository: Repository, number: int) -> list[Thread]:
        owner, _, name = repository.full_name.partition("/")
        login = (await self.our_login()).removesuffix("[bot]").lower()
        found: list[Thread] = []
        after: str | None = None
        for _ in range(THREAD_PAGES):
            answer = await self._graphql(
                repository,
                _THREADS,
                writes=False,
                owner=owner,
                name=name,
                number=number,
                after=after,
            )
            page = wire.read(answer, threads.ThreadsAnswer)
            if page.repository is None or page.repository.pull_request is None:
                raise NotFound(
                    "review_unknown",
                    f"There is no pull request #{number}",
                    hint="`awo show ORDER` names the pull request of an order.",
                )
            shown = page.repository.pull_request.review_threads
            found += [node.as_thread(login) for node in shown.nodes]
            after = shown.page_info.end_cursor
            if not shown.page_info.has_next_page or after is None:
                break
        return found

    async def resolve_thread(self, repository: Repository, node_id: str) -> None:
        await self._graphql(repository, _RESOLVE, writes=True, id=node_id)

    def _comment(self, one: LineComment) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "path": one.path,
            "line": one.line,
            "side": one.side,
            "body": markers.bounded(untrusted_text.harmless(one.body, self._hosts)),
        }
        if one.start_line is not None and one.start_line < one.line:
            shown |= {"start_line": one.start_line, "start_side": one.side}
        return shown


def fit(
    comments: Sequence[LineComment], files: Sequence[ChangedFile]
) -> tuple[list[LineComment], list[LineComment]]:
    """Those whose lines the diff shows, in one hunk; and the others."""
    patches: dict[str, Lines] = {}
    texts = {file.path: file.patch for file in files}
    fitting: list[LineComment] = []
    others: list[LineComment] = []
    for one in comments:
        if one.path in texts and one.path not in patches:
            patches[one.path] = lines(texts[one.path])
        shown = patches.get(one.path)
        hunk = shown.hunk(one.side, one.line) if shown else None
        first = one.line if one.start_line is None else one.start_line
        whole = shown is not None and hunk is not None and shown.hunk(one.side, first) == hunk
        fits = whole and first <= one.line and bool(one.body.strip())
        (fitting if fits and len(fitting) < COMMENTS_LIMIT else others).append(one)
    return fitting, others


def _with_others(body: str, others: Sequence[LineComment]) -> str:
    if not others:
        return body
    told = [f"**`{_path(one.path)}` line {one.line}**\n\n{one.body}" for one in others]
    return "\n\n".join([body, "These are about lines that the diff does not show:", *told]).strip()


def _path(path: str) -> str:
    return untrusted_text.line(path, 300).replace("`", "'")
