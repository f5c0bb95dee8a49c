"""Pull requests on GitHub: opened once, adopted only when ours, never merged against its will."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from scripted import LOGIN, REPOSITORY, Turns, made, missing, pull, refused

from agent_work_orders.errors import NotFound, Permanent, Unknown
from agent_work_orders.github_integration.forge import Proposal
from agent_work_orders.github_integration.resources import markers
from agent_work_orders.github_integration.resources.resource import REREAD_S

KEY = "wo-aaaaaaaaaaaaaaaa:pull_request"
MARKED = f"B\n\n{markers.marker(KEY)}"
PROPOSAL = Proposal(
    order_id="wo-aaaaaaaaaaaaaaaa",
    repository=REPOSITORY,
    title="T",
    body="B",
    head_branch="h",
    base_branch="main",
    head_sha="1" * 40,
    base_sha="2" * 40,
)


async def test_what_is_sent_is_marked_and_closes_only_the_orders_issue() -> None:
    forge, transport, _ = made({"POST pulls": pull(5, draft=True)})
    proposal = msgspec.structs.replace(PROPOSAL, body="Fixes #1", closes=42, draft=True)
    opened = await forge.open_pull_request(proposal, KEY)
    assert (opened.number, opened.state, opened.from_fork) == (5, "draft", False)
    [sent] = transport.bodies("POST pulls")
    assert (sent["head"], sent["base"], sent["draft"]) == ("h", "main", True)
    assert sent["body"].endswith(f"Closes #42\n\n{markers.marker(KEY)}")
    assert "Fixes #1" not in sent["body"]
    assert transport.creating == ["POST pulls"]


@pytest.mark.fault("D13")
async def test_our_facts_and_the_way_to_the_order_outlast_a_long_text() -> None:
    forge, transport, _ = made({"POST pulls": pull(5)}, public_url="https://orders.example")
    proposal = msgspec.structs.replace(
        PROPOSAL, body="long " * 20_000, facts="Tests passed: 3 cases. @all", closes=42
    )
    await forge.open_pull_request(proposal, KEY)
    [sent] = transport.bodies("POST pulls")
    assert len(sent["body"]) <= markers.BODY_LIMIT
    assert "Tests passed: 3 cases. @" in sent["body"] and "@all" not in sent["body"]
    order = "[Look at the work order](https://orders.example/orders/wo-aaaaaaaaaaaaaaaa)"
    assert sent["body"].endswith(f"{order}\n\nCloses #42\n\n{markers.marker(KEY)}")


@pytest.mark.fault("D8")
async def test_nothing_to_offer_is_no_changes() -> None:
    error = refused(422, "Validation Failed", "No commits between main and h")
    forge, _, _ = made({"POST pulls": error})
    with pytest.raises(Permanent) as raised:
        await forge.open_pull_request(PROPOSAL, KEY)
    assert raised.value.code == "no_changes"


async def test_a_draft_where_there_are_none_is_told_as_such() -> None:
    error = refused(422, "Draft pull requests are not supported in this repository.")
    forge, _, _ = made({"POST pulls": error})
    with pytest.raises(Permanent) as raised:
        await forge.open_pull_request(msgspec.structs.replace(PROPOSAL, draft=True), KEY)
    assert raised.value.code == "drafts_unsupported"


EXISTS = refused(422, "Validation Failed", "A pull request already exists for owner:h.")


@pytest.mark.fault("D8")
async def test_one_that_exists_is_named_and_not_touched() -> None:
    forge, transport, _ = made({"POST pulls": EXISTS, "GET pulls": [pull(4, body="x")]})
    with pytest.raises(Permanent) as raised:
        await forge.open_pull_request(PROPOSAL, KEY)
    assert raised.value.code == "pull_request_exists" and "#4" in raised.value.message
    assert not any(what.startswith("PATCH") for what, _ in transport.asked)


@pytest.mark.fault("D8")
@pytest.mark.parametrize(
    "theirs",
    [
        pull(4, body=MARKED, user={"login": "mallory"}),
        pull(4, body=MARKED, user=None),
        pull(4, body=f"B {markers.marker('wo-bbbbbbbbbbbbbbbb:pull_request')}"),
        pull(4, body=MARKED, head={"ref": "other", "sha": "1" * 40, "repo": None}),
    ],
)
async def test_what_is_not_ours_is_not_found(theirs: dict[str, Any]) -> None:
    forge, _, _ = made({"GET pulls": [theirs]})
    assert await forge.find_pull_request(REPOSITORY, KEY, "h") is None


@pytest.mark.fault("N1")
async def test_ours_is_found_by_its_branch_when_somebody_took_the_marker_out() -> None:
    forge, _, _ = made({"GET pulls": [pull(4, body="Their words.")]})
    found = await forge.find_pull_request(REPOSITORY, KEY, "h", settled=False)
    assert found is not None and found.number == 4


@pytest.mark.fault("N1")
async def test_only_texts_of_ours_are_replaced() -> None:
    wrote = made({})[0].texts(PROPOSAL, KEY)
    newer = msgspec.structs.replace(PROPOSAL, title="New", body="New words.")
    for theirs, changed in (
        (pull(4, body=MARKED.replace("\n", "\r\n")), {"title", "body"}),
        (pull(4, title="Theirs", body=MARKED), {"body"}),
        (pull(4, body=MARKED + "\n\nAnd theirs."), {"title"}),
        (pull(4, title="Theirs", body=""), set()),
    ):
        forge, transport, _ = made({"GET pulls/4": theirs, "PATCH pulls/4": pull(4)})
        await forge.update_pull_request(4, newer, KEY, ours=[wrote])
        sent = transport.bodies("PATCH pulls/4")
        assert set().union(*sent) == changed


async def test_any_other_refusal_is_told_as_it_is() -> None:
    forge, _, _ = made({"POST pulls": refused(422, "Validation Failed", "base invalid")})
    with pytest.raises(Permanent) as raised:
        await forge.open_pull_request(PROPOSAL, KEY)
    assert raised.value.code == "github_refused"


@pytest.mark.fault("D11")
async def test_what_shows_late_is_found_and_nothing_is_believed_after_a_while() -> None:
    late = Turns([], [], [pull(4, body=MARKED), pull(7, body=MARKED)])
    forge, transport, naps = made({"GET pulls": late})
    found = await forge.find_pull_request(REPOSITORY, KEY, "h")
    assert found is not None and found.number == 7
    assert naps.taken == list(REREAD_S)
    assert transport.bodies("GET pulls")[0]["head"] == "owner:h"
    forge, transport, naps = made({"GET pulls": []})
    assert await forge.find_pull_request(REPOSITORY, KEY, "h") is None
    assert len(transport.asked) == 1 + len(REREAD_S)


async def test_a_draft_becomes_ready_but_never_the_other_way() -> None:
    forge, transport, _ = made(
        {
            "GET pulls/4": Turns(*[pull(4, draft=True)] * 2, pull(4)),
            "GRAPHQL markPullRequestReadyForReview": {},
        }
    )
    assert (await forge.update_pull_request(4, PROPOSAL, KEY, ours=[])).state == "open"
    assert transport.bodies("GRAPHQL markPullRequestReadyForReview") == [{"id": "PR_4"}]
    forge, transport, _ = made({"GET pulls/4": pull(4)})
    draft = msgspec.structs.replace(PROPOSAL, draft=True)
    assert (await forge.update_pull_request(4, draft, KEY, ours=[])).state == "open"


@pytest.mark.fault("N1")
async def test_what_a_person_chose_stays() -> None:
    """Another base, and that it is a draft again."""
    theirs = pull(4, draft=True, base={"ref": "next", "sha": "2" * 40, "repo": None})
    forge, transport, _ = made({"GET pulls/4": theirs})
    kept = await forge.update_pull_request(4, PROPOSAL, KEY, ours=[], ready=False)
    assert (kept.state, kept.base_branch) == ("draft", "next")
    assert [what for what, _ in transport.asked] == ["GET pulls/4"]


async def test_closing_twice_is_one_request() -> None:
    forge, transport, _ = made(
        {"GET pulls/4": Turns(pull(4), pull(4, state="closed")), "PATCH pulls/4": pull(4)}
    )
    for _ in range(2):
        await forge.close_pull_request(REPOSITORY, 4, "x")
    assert transport.bodies("PATCH pulls/4") == [{"state": "closed"}]


async def test_one_that_is_not_there_is_said() -> None:
    forge, _, _ = made({"GET pulls/4": missing()})
    for call in (
        forge.close_pull_request(REPOSITORY, 4, "x"),
        forge.update_pull_request(4, PROPOSAL, KEY, ours=[]),
        forge.merge(REPOSITORY, 4, head_sha="1" * 40, method="squash"),
    ):
        with pytest.raises(NotFound) as raised:
            await call
        assert raised.value.code == "review_unknown"


@pytest.mark.fault("D14")
@pytest.mark.parametrize(
    ("status", "head", "code"),
    [
        (405, "1" * 40, "merge_refused"),
        (409, "1" * 40, "merge_refused"),
        (409, "3" * 40, "merge_head_changed"),
    ],
)
async def test_a_refused_merge_says_why(status: int, head: str, code: str) -> None:
    now = pull(4, head={"ref": "h", "sha": head, "repo": None})
    forge, transport, _ = made(
        {"GET pulls/4": now, "PUT pulls/4/merge": refused(status, "2 approving reviews required")}
    )
    with pytest.raises(Permanent) as raised:
        await forge.merge(REPOSITORY, 4, head_sha="1" * 40, method="squash")
    assert raised.value.code == code
    assert code != "merge_refused" or "2 approving reviews required" in raised.value.message
    assert transport.bodies("PUT pulls/4/merge") == [{"sha": "1" * 40, "merge_method": "squash"}]


async def test_a_merged_one_is_not_merged_again() -> None:
    merged = pull(4, state="closed", merged_at="2026-01-01T00:00:00Z")
    forge, transport, _ = made({"GET pulls/4": merged})
    assert await forge.merge(REPOSITORY, 4, head_sha="1" * 40, method="merge") == "9" * 40
    forge, transport, _ = made(
        {"GET pulls/4": Turns(pull(4), merged), "PUT pulls/4/merge": refused(405, "x")}
    )
    assert await forge.merge(REPOSITORY, 4, head_sha="1" * 40, method="merge") == "9" * 40
    assert len(transport.bodies("PUT pulls/4/merge")) == 1


async def test_auto_merge_that_is_on_is_left_alone() -> None:
    def state(request: Any) -> dict[str, Any]:
        pull = {"id": "PR_4", "autoMergeRequest": request}
        return {"repository": {"pullRequest": pull}}

    on = {"mergeMethod": "SQUASH"}
    forge, transport, _ = made({"GRAPHQL query": state(on)})
    await forge.enable_auto_merge(REPOSITORY, 4, "squash")
    assert len(transport.asked) == 1
    answers = {"GRAPHQL query": state(None), "GRAPHQL enablePullRequestAutoMerge": {}}
    forge, transport, _ = made(answers)
    await forge.enable_auto_merge(REPOSITORY, 4, "squash")
    [sent] = transport.bodies("GRAPHQL enablePullRequestAutoMerge")
    assert sent == {"id": "PR_4", "method": "SQUASH"}
    clean = refused(200, "", "Pull request is in clean status")
    forge, _, _ = made({**answers, "GRAPHQL enablePullRequestAutoMerge": clean})
    with pytest.raises(Permanent) as raised:
        await forge.enable_auto_merge(REPOSITORY, 4, "squash")
    assert raised.value.code == "merge_refused" and "clean status" in raised.value.message


@pytest.mark.fault("D6")
async def test_an_answer_of_another_shape_is_never_success() -> None:
    answers: tuple[Any, ...] = (None, [], {"number": "5"}, {**pull(5), "head": None})
    for answer in answers:
        forge, _, _ = made({"POST pulls": answer})
        with pytest.raises(Unknown) as raised:
            await forge.open_pull_request(PROPOSAL, KEY)
        assert raised.value.code == "github_answer_lost"


async def test_a_fork_is_told_by_its_repository() -> None:
    fork = {"ref": "h", "sha": "1" * 40, "repo": {"full_name": "mallory/name"}}
    gone = {"ref": "h", "sha": "1" * 40, "repo": None}
    for head in (fork, gone):
        forge, _, _ = made({"GET pulls/4": pull(4, head=head)})
        assert (await forge.pull_request(REPOSITORY, 4)).from_fork
    assert await forge.our_login() == LOGIN
