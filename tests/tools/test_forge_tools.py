"""`forge.*`: one pull request per order, whatever crashes, and only its own is closed."""

from __future__ import annotations

import pytest
from bench import BRANCH, CANARY, ORDER, Bench, Crash, git

from agent_work_orders.errors import Permanent
from agent_work_orders.github_integration.forge import Proposal, PullRequest, Repository
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.github_integration.local_forge import LocalForge

ONE = "default: [{write: {path: one.txt, content: one}}]"


async def test_it_is_opened_once_with_its_evidence(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    tests = {"found": True, "passed": True, "total": 3, "failed": 0}
    opened = await bench.do("forge.open_pull_request", tests=tests)
    assert await bench.do("forge.open_pull_request", attempt=2) == opened
    [review] = bench.forge.reviews(bench.order.repository)
    assert (review.number, review.state, opened["number"]) == (1, "open", 1)
    proposal = review.proposal
    assert proposal.title == "feat: Do it"
    assert (
        "scripted" in proposal.facts
        and "Tests passed: 3 run, 0 failed, 0 skipped" in proposal.facts
    )
    assert proposal.evidence["files_changed"] == 1
    assert [commit["subject"] for commit in proposal.evidence["commits"]] == ["feat: build: Do it"]
    assert git(bench.source, "rev-parse", BRANCH) == opened["head"]


@pytest.mark.fault("A4")
@pytest.mark.parametrize("moment", [":push:", ":pull_request"])
async def test_a_crash_before_the_receipt_makes_no_second_one(bench: Bench, moment: str) -> None:
    await bench.agent(ONE, path="build")
    bench.restart(crash_at=moment)
    with pytest.raises(Crash):
        await bench.do("forge.open_pull_request")
    bench.restart()
    opened = await bench.do("forge.open_pull_request", attempt=2)
    assert [review.number for review in bench.forge.reviews(bench.order.repository)] == [1]
    assert opened["number"] == 1


async def test_a_later_pass_updates_the_one_that_is_open(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    await bench.do("forge.open_pull_request")
    await bench.agent("default: [{write: {path: two.txt, content: two}}]", path="more")
    again = await bench.do("forge.open_pull_request", generation=2)
    [review] = bench.forge.reviews(bench.order.repository)
    assert review.proposal.head_sha == again["head"] == await bench.head()
    assert git(bench.source, "rev-parse", BRANCH) == again["head"]


async def test_undone_and_done_again_is_a_second_one(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    opened = await bench.do("forge.open_pull_request")
    undone = await bench.undo(
        "forge.close_pull_request",
        number=opened["number"],
        branch=opened["branch"],
        head=opened["head"],
    )
    assert undone.failure is None
    assert git(bench.source, "branch", "--list", BRANCH) == ""
    bench.restart(crash_at=":2:pull_request")
    with pytest.raises(Crash):
        await bench.do("forge.open_pull_request", generation=2)
    bench.restart()
    again = await bench.do("forge.open_pull_request", generation=2, attempt=2)
    states = [(one.number, one.state) for one in bench.forge.reviews(bench.order.repository)]
    assert states == [(1, "closed"), (2, "open")]
    assert again["number"] == 2


async def test_another_orders_pull_request_is_not_closed(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    theirs = Proposal(
        order_id="wo-bbbbbbbbbbbbbbbb",
        repository=Repository(key=bench.order.repository),
        title="theirs",
        body="",
        head_branch="x",
        base_branch="main",
        head_sha="0" * 40,
        base_sha="1" * 40,
    )
    await bench.forge.open_pull_request(theirs, "wo-bbbbbbbbbbbbbbbb:pull_request")
    undone = await bench.undo("forge.close_pull_request", number=1)
    assert undone.failure is not None and undone.failure.code == "pull_request_not_ours"
    [review] = bench.forge.reviews(bench.order.repository)
    assert review.state == "open"


@pytest.mark.fault("I1")
async def test_the_agents_own_summary_is_shown_without_secrets(bench: Bench) -> None:
    content = f"# A fine change\\n\\nKey {CANARY} used. <script>x</script>"
    script = (
        f'default: [{{write: {{path: .claude-pr-summary.md, content: "{content}"}}}},'
        " {write: {path: one.txt, content: one}}]"
    )
    await bench.agent(script, path="build")
    await bench.do("forge.open_pull_request", draft=True)
    [review] = bench.forge.reviews(bench.order.repository)
    assert review.state == "draft"
    assert review.proposal.title == "feat: A fine change"
    assert review.proposal.body == "Key [redacted] used. <script>x</script>"
    assert "**Unverified**: no tests were run" in review.proposal.facts, (
        "the summary does not take their place"
    )


@pytest.mark.parametrize("plant", ["ln -s /etc/passwd", "mkdir"])
async def test_a_summary_that_is_no_file_is_ignored(bench: Bench, plant: str) -> None:
    line = f"{plant} .claude-pr-summary.md; echo one > one.txt"
    await bench.agent(f"default: [{{run: [sh, -c, '{line}']}}]", path="build")
    await bench.do("forge.open_pull_request")
    [review] = bench.forge.reviews(bench.order.repository)
    assert review.proposal.title == "feat: Do it"
    assert ORDER in review.proposal.facts


async def test_a_draft_of_an_earlier_task_is_made_ready(bench: Bench) -> None:
    await bench.agent(ONE, path="plan")
    draft = await bench.do("forge.open_pull_request", path="draft", draft=True)
    assert draft["draft"]
    await bench.agent("default: [{write: {path: two.txt, content: two}}]", path="build")
    ready = await bench.do("forge.open_pull_request", path="publish")
    assert (ready["number"], ready["draft"]) == (draft["number"], False)
    [review] = bench.forge.reviews(bench.order.repository)
    assert review.state == "open" and review.proposal.head_sha == ready["head"]


class _WithoutDrafts(LocalForge):
    async def open_pull_request(self, proposal: Proposal, key: str) -> PullRequest:
        if proposal.draft:
            raise Permanent("drafts_unsupported", "No drafts here", hint="Open it ready.")
        return await super().open_pull_request(proposal, key)


async def test_where_there_are_no_drafts_it_is_opened_ready_or_not_at_all(bench: Bench) -> None:
    bench.forges = lambda _: Forges(_WithoutDrafts(bench.home / "reviews"))
    bench.restart()
    await bench.agent(ONE, path="build")
    failed = await bench.fail("forge.open_pull_request", path="a", draft=True, needs_draft=True)
    assert failed.failure.code == "drafts_unsupported"
    opened = await bench.do("forge.open_pull_request", path="b", draft=True)
    assert not opened["draft"]
    [review] = bench.forge.reviews(bench.order.repository)
    assert review.state == "open"


@pytest.mark.parametrize(
    ("failed", "said"),
    [
        (0, "Tests did **NOT** pass: The command ended with 3"),
        (1, "Tests did **NOT** pass: 1 of 2 failed. The command ended with 3"),
    ],
)
async def test_no_failures_are_counted_where_there_are_none(
    bench: Bench, failed: int, said: str
) -> None:
    """As of a test that is missing, or a command that ended badly after its tests."""
    await bench.agent(ONE, path="build")
    tests = {"found": True, "passed": False, "total": 2, "failed": failed}
    tests |= {"summary": "The command ended with 3\nand more", "verdict": "failed"}
    await bench.do("forge.open_pull_request", tests=tests)
    [review] = bench.forge.reviews(bench.order.repository)
    assert said in review.proposal.facts.split("\n\n")
    assert "0 of" not in review.proposal.facts and "0 failed" not in review.proposal.facts
