"""What every hub must do besides being a forge. Subclass and give a pytest fixture `desk`."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from agent_work_orders.errors import Unknown
from agent_work_orders.github_integration.forge import (
    Annotation,
    Check,
    Hub,
    LineComment,
    Repository,
    Review,
)
from agent_work_orders.testing.conformance.forge import KEY, proposal, refused


class HubDesk(Protocol):
    """Also: what others do by hand, and answers that are lost."""

    @property
    def forge(self) -> Hub: ...

    @property
    def repository(self) -> Repository: ...

    def push(self, branch: str, *, changes: bool = True) -> tuple[str, str]:
        """A branch that changes line 2 of README.md ("one", "two", "three")."""
        ...

    def act(self, method: str, path: str, body: Any = None) -> Any:
        """An administrator who is not us does something; `path` is below the repository. The
        answer's JSON; AssertionError when it is refused."""
        ...

    def lose_next_answer(self, method: str) -> None:
        """The next request of this method is carried out, and its answer never comes."""
        ...


async def pulled(desk: HubDesk, branch: str = "feat-a", **more: Any) -> tuple[int, str]:
    """A pull request of ours: its number and head."""
    offer = proposal(desk, branch, **more)
    return (await desk.forge.open_pull_request(offer, KEY)).number, offer.head_sha


class HubConformance:
    async def test_a_lost_answer_is_found_again(self, desk: HubDesk) -> None:
        number, head = await pulled(desk)
        check = Check(name="n", head_sha=head, title="t", summary="s")
        review = Review(head_sha=head, event="COMMENT", body="b")
        hub, at = desk.forge, desk.repository
        for write, find in (
            (hub.add_comment(at, number, "b", "k"), lambda: hub.find_comment(at, number, "k")),
            (hub.add_check(at, check, "k"), lambda: hub.find_check(at, head, "k")),
            (hub.add_review(at, number, review, "k"), lambda: hub.find_review(at, number, "k")),
        ):
            assert await find() is None
            desk.lose_next_answer("POST")
            try:
                await write
            except Unknown as error:
                assert error.code == "github_answer_lost"
            else:
                raise AssertionError("the answer was not lost")
            assert await find() is not None

    async def test_the_marker_of_others_is_not_ours(self, desk: HubDesk) -> None:
        number, _ = await pulled(desk)
        ours = await desk.forge.add_comment(desk.repository, number, "said", "k")
        body = {"body": f"{ours.body} <!-- awo:other -->"}
        desk.act("POST", f"issues/{number}/comments", body)
        found = await desk.forge.find_comment(desk.repository, number, "k")
        assert found == ours
        assert await desk.forge.find_comment(desk.repository, number, "other") is None

    async def test_a_comment_is_edited_in_place(self, desk: HubDesk) -> None:
        number, _ = await pulled(desk)
        made = await desk.forge.add_comment(desk.repository, number, "first", "k")
        for _ in range(2):
            await desk.forge.edit_comment(desk.repository, made.comment_id, "second", "k")
        found = await desk.forge.find_comment(desk.repository, number, "k")
        assert found is not None and found.comment_id == made.comment_id
        assert "second" in found.body and "first" not in found.body

    async def test_a_check_is_concluded_with_all_its_annotations(self, desk: HubDesk) -> None:
        _, head = await pulled(desk)
        told = [
            Annotation(path="README.md", start_line=1, end_line=1, level="notice", message=f"m{n}")
            for n in range(120)
        ]
        check = Check(name="n", head_sha=head, title="t", summary="s", annotations=told)
        made = await desk.forge.add_check(desk.repository, check, "k")
        done = msgspec.structs.replace(check, conclusion="success")
        await desk.forge.edit_check(desk.repository, made, done, "k")
        seen = desk.act("GET", f"check-runs/{made}")
        assert (seen["status"], seen["conclusion"]) == ("completed", "success")
        assert seen["output"]["annotations_count"] == 120
        assert await desk.forge.find_check(desk.repository, head, "k") == made

    async def test_a_review_keeps_its_lines_and_tells_the_others(self, desk: HubDesk) -> None:
        number, head = await pulled(desk)
        said = [
            LineComment(path="README.md", line=2, body="inside"),
            LineComment(path="README.md", line=99, body="outside"),
            LineComment(path="nowhere", line=1, body="elsewhere"),
        ]
        review = Review(head_sha=head, event="COMMENT", body="whole", comments=said)
        await desk.forge.add_review(desk.repository, number, review, "k")
        [comment] = desk.act("GET", f"pulls/{number}/comments")
        assert (comment["path"], comment["line"], comment["body"]) == ("README.md", 2, "inside")
        [seen] = desk.act("GET", f"pulls/{number}/reviews")
        assert all(word in seen["body"] for word in ("whole", "outside", "elsewhere"))

    async def test_our_threads_are_told_from_others_and_resolved(self, desk: HubDesk) -> None:
        number, head = await pulled(desk)
        line = {"path": "README.md", "line": 2, "side": "RIGHT", "body": "theirs"}
        theirs = {"event": "COMMENT", "body": "x", "comments": [line]}
        desk.act("POST", f"pulls/{number}/reviews", theirs)
        said = [LineComment(path="README.md", line=2, body="ours")]
        review = Review(head_sha=head, event="COMMENT", body="b", comments=said)
        await desk.forge.add_review(desk.repository, number, review, "k")
        threads = await desk.forge.threads(desk.repository, number)
        assert sorted(one.ours for one in threads) == [False, True]
        for one in threads:
            if one.ours:
                await desk.forge.resolve_thread(desk.repository, one.node_id)
        after = await desk.forge.threads(desk.repository, number)
        assert {one.ours: one.resolved for one in after} == {True: True, False: False}

    async def test_labels_reactions_and_statuses_can_be_repeated(self, desk: HubDesk) -> None:
        number, head = await pulled(desk)
        hub, at = desk.forge, desk.repository
        comment = await hub.add_comment(at, number, "b", "k")
        for _ in range(2):
            await hub.set_labels(at, number, add=["bug", "a label"], remove=["wontfix"])
            await hub.react(at, number, "eyes")
            await hub.react(at, number, "rocket", comment.comment_id)
            await hub.set_status(at, head, context="c", state="success", description="d")
        assert set((await hub.issue(at, number)).labels) == {"bug", "a label"}
        await hub.set_labels(at, number, add=[], remove=["a label", "bug"])
        assert (await hub.issue(at, number)).labels == ()
        assert len(desk.act("GET", f"issues/{number}/reactions")) == 1
        [status] = desk.act("GET", f"commits/{head}/statuses")
        assert status["state"] == "success"

    async def test_a_merge_needs_the_head_that_was_seen(self, desk: HubDesk) -> None:
        number, head = await pulled(desk)
        desk.push("feat-a")
        merging = desk.forge.merge(desk.repository, number, head_sha=head, method="squash")
        assert await refused(merging) == "merge_head_changed"
        pull = await desk.forge.pull_request(desk.repository, number)
        assert pull.state == "open"
        done = [
            await desk.forge.merge(desk.repository, number, head_sha=pull.head_sha, method="merge")
            for _ in range(2)
        ]
        assert done[0] == done[1] and len(done[0]) == 40
        assert (await desk.forge.pull_request(desk.repository, number)).state == "merged"

    async def test_a_protection_is_not_bypassed(self, desk: HubDesk) -> None:
        number, head = await pulled(desk)
        assert await desk.forge.protection(desk.repository, "main") is None
        rules = {
            "enforce_admins": True,
            "required_pull_request_reviews": {"required_approving_review_count": 1},
        }
        await desk.forge.protect(desk.repository, "main", rules)
        assert await desk.forge.protection(desk.repository, "main") is not None
        merging = desk.forge.merge(desk.repository, number, head_sha=head, method="squash")
        assert await refused(merging) == "merge_refused"
        await desk.forge.change_settings(desk.repository, {"allow_auto_merge": True})
        for _ in range(2):
            await desk.forge.enable_auto_merge(desk.repository, number, "squash")
        desk.act("POST", f"pulls/{number}/reviews", {"event": "APPROVE"})
        assert (await desk.forge.pull_request(desk.repository, number)).state == "merged"
        # Whoever never heard that it was turned on finds it done.
        await desk.forge.enable_auto_merge(desk.repository, number, "squash")

    async def test_a_draft_is_made_ready(self, desk: HubDesk) -> None:
        number, _ = await pulled(desk, draft=True)
        for _ in range(2):
            ready = await desk.forge.mark_ready(desk.repository, number)
            assert (ready.number, ready.state) == (number, "open")

    async def test_who_may_what(self, desk: HubDesk) -> None:
        hub, at = desk.forge, desk.repository
        assert await hub.permission(at, "octocat") == "admin"
        assert await hub.permission(at, "nobody-at-all") == "none"
        facts = await hub.repository(at)
        assert facts.full_name == at.full_name and facts.default_branch == "main"
        assert await hub.file(at, "README.md") == b"one\ntwo\nthree\n"
        assert await hub.file(at, "no/such file") is None

    async def test_issues_are_read_and_closed(self, desk: HubDesk) -> None:
        made = desk.act(
            "POST", "issues", {"title": "It breaks", "body": "Badly", "labels": ["bug"]}
        )
        issue = await desk.forge.issue(desk.repository, made["number"])
        assert (issue.title, issue.body, issue.labels) == ("It breaks", "Badly", ("bug",))
        assert (issue.author, issue.is_pull_request) == ("octocat", False)
        await desk.forge.update_issue(desk.repository, issue.number, state="closed")
        assert (await desk.forge.issue(desk.repository, issue.number)).state == "closed"
        assert await refused(desk.forge.issue(desk.repository, 999)) == "github_not_found"

    async def test_notes_and_settings(self, desk: HubDesk) -> None:
        assert "Changelog" in await desk.forge.release_notes(desk.repository, "v1")
        for wanted in (False, False, True):
            await desk.forge.change_settings(desk.repository, {"has_wiki": wanted})
            found = await desk.forge.settings(desk.repository, ["has_wiki"])
            assert found == {"has_wiki": wanted}
