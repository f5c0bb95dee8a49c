"""`github.*` at a real desk, on the simulator's world: one of each, whatever is lost."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from bench import CANARY, ORDER, Bench, Crash

from agent_work_orders.github_integration.forge import LineComment, Proposal, Review
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.github_integration.quota import QuotaHeld
from agent_work_orders.testing.fakes.simulated_transport import SimulatedHub, lost
from agent_work_orders.workflow_engine.events import TaskFailed, TaskParked
from github_simulator.changes import founding

sys.path.append(str(Path(__file__).parents[1]))
from github_descriptions import validate_request

URL = "https://github.com/acme/widgets"


def described(method: str, path: str, query: Any, body: Any) -> None:
    if path != "/graphql":
        validate_request(method, path, query, body)


class Town:
    """A bench whose orders belong to the hub, and a pull request of octocat's to talk about."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self.bench = bench
        self.hub = SimulatedHub(folder)
        self.hub.transport.watch = described
        bench.forges = lambda local: Forges(local, self.hub.forge)
        bench.restart()
        self.head = self.hub.commit("topic", {"README.md": "one\nzwei\nthree\n"}, "Change")
        pull = {"title": "Zwei", "body": "Says zwei", "head": "topic", "base": "main"}
        self.number = int(self.act("POST", "pulls", pull)["number"])

    def act(self, method: str, path: str, body: Any = None, login: str = "octocat") -> Any:
        answer = self.hub.act(login, method, path, body)
        assert answer.status < 300, answer
        return answer.body

    def given(self, given: dict[str, Any]) -> dict[str, Any]:
        about = {"pull_request": self.number, "head_sha": self.head}
        order = {"repository_url": URL, "github": about, **given.pop("order", {})}
        return {**given, "order": order}

    async def do(self, uses: str, **given: Any) -> dict[str, Any]:
        return await self.bench.do(uses, **self.given(given))

    async def fail(self, uses: str, **given: Any) -> TaskFailed:
        return await self.bench.fail(uses, **self.given(given))

    def comments(self) -> list[Any]:
        found: list[Any] = self.act("GET", f"issues/{self.number}/comments")
        return found

    def lose(self, method: str) -> None:
        """The next answer of this method is lost."""

        def once(asked: str, _path: str) -> Exception | None:
            if asked != method:
                return None
            self.hub.transport.after = lambda _method, _path: None
            return lost()

        self.hub.transport.after = once


@pytest.fixture
def town(bench: Bench, tmp_path: Path) -> Town:
    return Town(bench, tmp_path / "world")


async def test_a_comment_of_a_name_is_one_and_edited(town: Town) -> None:
    first = await town.do("github.comment", body=f"First, {CANARY}")
    assert [method for method, _, _ in town.hub.transport.sent] == ["POST"]
    again = await town.do("github.comment", path="later", body="Second")
    other = await town.do("github.comment", path="other", body="Other", name="report")
    assert first == again and other["comment_id"] != first["comment_id"]
    said = [comment["body"].split("\n")[0] for comment in town.comments()]
    assert said == ["Second", "Other"]
    assert not any(CANARY in str(body) for _, _, body in town.hub.transport.sent)


@pytest.mark.fault("A4")
@pytest.mark.fault("D7")
@pytest.mark.parametrize("crash", [True, False])
@pytest.mark.parametrize(
    ("uses", "given", "where"),
    [
        ("github.comment", {"body": "b"}, "issues/{n}/comments"),
        ("github.review", {"body": "b"}, "pulls/{n}/reviews"),
        ("github.check", {"title": "t", "summary": "s"}, ""),
    ],
)
async def test_a_crash_or_a_lost_answer_makes_no_second_one(
    town: Town, crash: bool, uses: str, given: dict[str, Any], where: str
) -> None:
    if crash:
        town.bench.restart(crash_at=uses.removeprefix("github."))
        with pytest.raises(Crash):
            await town.do(uses, **given)
        town.bench.restart()
    else:
        town.lose("POST")
        await town.do(uses, **given)
    await town.do(uses, attempt=2, **given)
    # GitHub lists only the latest check of a name: a second one shows in the world alone.
    seen = town.act("GET", where.format(n=town.number)) if where else town.hub.stored.check_runs
    assert len(seen) == 1


@pytest.mark.fault("D7")
async def test_a_lost_answer_to_an_edit_is_worth_another_try(town: Town) -> None:
    await town.do("github.comment", body="First")
    town.lose("PATCH")
    failed = await town.fail("github.comment", path="later", body="Second")
    assert failed.failure.code == "github_answer_lost"
    assert failed.failure.category == "transient"
    await town.do("github.comment", path="later", attempt=2, body="Second")
    [comment] = town.comments()
    assert comment["body"].startswith("Second")


async def test_a_comment_that_somebody_deleted_is_not_written_again(town: Town) -> None:
    made = await town.do("github.comment", body="First")
    town.act("DELETE", f"issues/comments/{made['comment_id']}")
    again = await town.do("github.comment", path="later", body="Second")
    assert again["deleted"] and town.comments() == []


@pytest.mark.fault("D3")
async def test_a_held_quota_parks_the_task(town: Town) -> None:
    for reason, word in (
        ("primary_limit", "github_quota"),
        ("secondary_limit", "github_quota"),
        ("github_unavailable", "github_unavailable"),
    ):
        held = QuotaHeld("installation:1", reason, 4_000_000_000_000)
        town.hub.transport.before = lambda _method, _path, held=held: held  # type: ignore[misc]
        answer = await town.bench.perform("github.comment", **town.given({"body": "b"}))
        assert isinstance(answer, TaskParked)
        assert (answer.reason, answer.until_ms) == (word, 4_000_000_000_000)
    undone = await town.bench.undo(
        "github.restore_labels",
        **town.given({"number": town.number, "added": ["a"], "removed": []}),
    )
    assert undone.failure is not None and undone.failure.code == "undo_held"
    assert undone.failure.category == "transient" and undone.failure.retry_after_s
    town.hub.transport.before = lambda _method, _path: None
    await town.do("github.comment", attempt=2, body="b")
    assert len(town.comments()) == 1


async def test_a_check_is_brought_up_to_date_on_its_commit(town: Town) -> None:
    running = await town.do("github.check", title="Running", summary="s")
    found = [
        {"path": "README.md", "line": 2, "severity": "error", "message": f"No {CANARY}"},
        {"path": "README.md", "line": 3, "severity": "info", "message": "Hm"},
    ]
    done = await town.do(
        "github.check", path="end", title="Done", summary="s", conclusion="failure", findings=found
    )
    assert done["check_id"] == running["check_id"]
    [run] = town.act("GET", f"commits/{town.head}/check-runs")["check_runs"]
    assert (run["status"], run["conclusion"]) == ("completed", "failure")
    notes = town.act("GET", f"check-runs/{run['id']}/annotations")
    assert [(note["annotation_level"], note["start_line"]) for note in notes] == [
        ("failure", 2),
        ("notice", 3),
    ]
    assert CANARY not in str(notes)


async def test_without_an_app_a_check_is_a_status(town: Town) -> None:
    town.hub.transport._login = "octocat"
    made = await town.do("github.check", title="Done", summary="s", conclusion="failure")
    assert made["check_id"] == 0
    [status] = town.act("GET", f"commits/{town.head}/statuses")
    assert (status["state"], status["context"]) == ("failure", "Agent Work Orders")


async def test_a_review_has_its_findings_on_their_lines(town: Town) -> None:
    found = [
        {"path": "README.md", "line": 2, "severity": "error", "message": "No", "suggestion": "two"},
        {"path": "README.md", "line": 9, "severity": "info", "message": "Far", "suggestion": None},
    ]
    made = await town.do("github.review", event="REQUEST_CHANGES", body="Looked.", findings=found)
    assert made["event"] == "REQUEST_CHANGES"
    [comment] = town.act("GET", f"pulls/{town.number}/comments")
    assert comment["body"] == "**error**: No\n\n```suggestion\ntwo\n```"
    [review] = town.act("GET", f"pulls/{town.number}/reviews")
    assert review["state"] == "CHANGES_REQUESTED" and "Far" in review["body"]


async def test_what_we_asked_for_does_not_block_once_it_is_there(town: Town) -> None:
    theirs = {"event": "REQUEST_CHANGES", "body": "Mine stays."}
    town.hub.act("octocat", "POST", f"pulls/{town.number}/reviews", theirs)
    await town.do("github.review", path="a", event="REQUEST_CHANGES", body="Not yet.")
    again = await town.do("github.review", path="b", event="REQUEST_CHANGES", body="Still not.")
    assert again["dismissed"] == 0
    clean = await town.do("github.review", path="c", body="Fine now.")
    assert clean["dismissed"] == 2
    reviews = town.act("GET", f"pulls/{town.number}/reviews")
    ours = [one["state"] for one in reviews if one["user"]["login"] == "awo[bot]"]
    assert sorted(ours) == ["COMMENTED", "DISMISSED", "DISMISSED"]
    assert (await town.do("github.review", path="d", body="Fine."))["dismissed"] == 0


@pytest.mark.fault("N2")
async def test_a_branch_that_moved_under_a_review_gets_it_in_its_text(town: Town) -> None:
    found = [{"path": "README.md", "line": 2, "severity": "error", "message": "No"}]
    git = town.hub.world.git(town.hub.stored)
    moved = founding.commit(
        town.hub.world,
        town.hub.stored,
        "topic",
        {"README.md": "eins\ntwo\nthree\n"},
        "Other",
        town.hub.octocat,
        parent=git.branch("main"),
    )
    made = await town.do("github.review", head_sha=town.head, body="Looked.", findings=found)
    [review] = town.act("GET", f"pulls/{town.number}/reviews")
    assert review["id"] == made["review_id"] and review["commit_id"] == moved
    assert town.head[:12] in review["body"] and "**error**: No" in review["body"]


@pytest.mark.fault("J2")
async def test_an_order_never_approves(town: Town) -> None:
    failed = await town.fail("github.review", event="APPROVE", body="Fine")
    assert failed.failure.code == "review_event_refused"
    assert town.act("GET", f"pulls/{town.number}/reviews") == []


async def test_our_own_pull_request_is_only_commented_on(town: Town) -> None:
    head = town.hub.commit("ours", {"README.md": "eins\ntwo\nthree\n"}, "Change")
    proposal = Proposal(
        order_id=ORDER,
        repository=town.hub.repository,
        title="t",
        body="b",
        head_branch="ours",
        base_branch="main",
        head_sha=head,
        base_sha="0" * 40,
    )
    ours = await town.hub.forge.open_pull_request(proposal, "k")
    made = await town.do(
        "github.review", number=ours.number, event="REQUEST_CHANGES", body="Looked."
    )
    assert made["event"] == "COMMENT"


async def test_labels_are_restored_to_what_they_were(town: Town) -> None:
    town.act("POST", f"issues/{town.number}/labels", {"labels": ["bug", "question"]})
    town.bench.restart(crash_at=":labels")
    given = {"add": ["Bug", "triaged"], "remove": ["question", "wontfix"]}
    with pytest.raises(Crash):
        await town.do("github.label", **given)
    town.bench.restart()
    changed = await town.do("github.label", attempt=2, **given)
    assert changed["added"] == ["triaged"] and changed["removed"] == ["question"]
    assert await town.do("github.label", attempt=3, **given) == changed
    undone = await town.bench.undo("github.restore_labels", **town.given(dict(changed)))
    assert undone.failure is None
    labels = [label["name"] for label in town.act("GET", f"issues/{town.number}/labels")]
    assert sorted(labels) == ["bug", "question"]


async def test_a_pull_request_is_read_with_its_files(town: Town) -> None:
    read = await town.do("github.read_pull_request")
    assert (read["number"], read["title"], read["author"]) == (town.number, "Zwei", "octocat")
    assert read["head_sha"] == town.head and not read["from_fork"]
    [file] = read["files"]
    assert file["path"] == "README.md" and "+zwei" in file["patch"]
    issue = await town.do("github.read_issue", number=town.number)
    assert issue["is_pull_request"] and issue["body"] == "Says zwei"


@pytest.mark.fault("D10")
async def test_what_is_read_is_bounded_and_says_so(town: Town) -> None:
    files: dict[str, str | bytes | None] = {f"f{n}.txt": "x\n" * 2_000 for n in range(60)}
    town.hub.commit("topic", {**files, "big.txt": "y\n" * 12_000}, "Much")
    read = await town.do("github.read_pull_request", order={"github": None}, number=town.number)
    patches = {file["path"]: len(file["patch"]) for file in read["files"]}
    assert read["truncated"] and read["files_changed"] == len(patches) == 62
    assert patches["big.txt"] == 0 and 50_000 < sum(patches.values()) <= 100_000


async def test_a_merge_happens_once(town: Town) -> None:
    town.bench.restart(crash_at=":merge")
    with pytest.raises(Crash):
        await town.do("github.merge", head_sha=town.head)
    town.bench.restart()
    merged = await town.do("github.merge", attempt=2, head_sha=town.head)
    seen = town.act("GET", f"pulls/{town.number}")
    assert seen["merged"] and seen["merge_commit_sha"] == merged["commit"]


async def test_an_uncertain_dispatch_asks_a_person(town: Town) -> None:
    trigger = "on: {workflow_dispatch: {inputs: {a: {type: string}}}}\njobs: {}\n"
    town.hub.commit("main", {".github/workflows/ci.yml": trigger}, "CI")
    town.lose("POST")
    given = {"workflow": "ci.yml", "ref": "main", "inputs": {"a": "b"}}
    await town.fail("github.dispatch", **given)
    sent = len(town.hub.transport.sent)
    failed = await town.fail("github.dispatch", attempt=2, **given)
    assert failed.failure.code == "dispatch_uncertain"
    assert len(town.hub.transport.sent) == sent
    assert await town.do("github.dispatch", generation=2, **given) == {
        "workflow": "ci.yml",
        "ref": "main",
    }


async def test_our_threads_are_resolved_and_those_of_others_left(town: Town) -> None:
    theirs = [{"path": "README.md", "line": 2, "side": "RIGHT", "body": "theirs"}]
    town.act(
        "POST",
        f"pulls/{town.number}/reviews",
        {"event": "COMMENT", "body": "x", "comments": theirs},
    )
    ours = Review(
        head_sha=town.head,
        event="COMMENT",
        body="b",
        comments=[LineComment(path="README.md", line=2, body="ours")],
    )
    await town.hub.forge.add_review(town.hub.repository, town.number, ours, "k")
    first = await town.do("github.resolve_threads")
    assert (first["resolved"], first["left"], first["all"]) == (1, 1, False)
    assert (await town.do("github.resolve_threads", attempt=2))["resolved"] == 0


@pytest.mark.fault("D7")
@pytest.mark.parametrize(
    ("uses", "method", "given", "before"),
    [
        (
            "github.settings",
            "PATCH",
            {"changes": {"has_wiki": False}},
            {"changes": {"has_wiki": True}},
        ),
        ("github.issue_state", "PATCH", {"state": "closed"}, {"state": "open"}),
        (
            "github.protect",
            "PUT",
            {"branch": "main", "rules": {"enforce_admins": True}},
            {"branch": "main", "before": None},
        ),
    ],
)
async def test_what_was_before_is_remembered_when_the_answer_is_lost(
    town: Town, uses: str, method: str, given: dict[str, Any], before: dict[str, Any]
) -> None:
    town.lose(method)
    await town.fail(uses, **given)
    again = await town.do(uses, attempt=2, **given)
    assert before.items() <= again.items()


async def test_an_issue_is_closed_and_opened_again(town: Town) -> None:
    number = town.act("POST", "issues", {"title": "It breaks"})["number"]
    before = await town.do("github.issue_state", number=number, state="closed")
    assert town.act("GET", f"issues/{number}")["state"] == "closed"
    undone = await town.bench.undo("github.issue_state", **town.given(before))
    assert undone.failure is None and town.act("GET", f"issues/{number}")["state"] == "open"


async def test_settings_are_taken_back_by_themselves(town: Town) -> None:
    before = await town.do("github.settings", changes={"has_wiki": False})
    assert before == {"changes": {"has_wiki": True}}
    undone = await town.bench.undo("github.settings", **town.given(before))
    assert undone.failure is None and town.act("GET", "")["has_wiki"]
    failed = await town.fail("github.settings", changes={"private": True})
    assert failed.failure.code == "github_setting_refused"


async def test_the_rest_says_what_should_be(town: Town) -> None:
    draft = {"title": "d", "head": "draft", "base": "main", "draft": True}
    town.hub.commit("draft", {"README.md": "eins\n"}, "Change")
    number = town.act("POST", "pulls", draft)["number"]
    assert (await town.do("github.ready", number=number))["state"] == "open"
    await town.do("github.react", reaction="eyes")
    comment = town.act("POST", f"issues/{town.number}/comments", {"body": "x"})
    await town.do("github.react", path="b", reaction="+1", comment_id=comment["id"])
    [seen] = town.act("GET", f"issues/comments/{comment['id']}/reactions")
    assert seen["content"] == "+1"
    await town.do("github.status", state="success", description=f"d {CANARY}")
    [status] = town.act("GET", f"commits/{town.head}/statuses")
    assert status["context"] == "agent-work-orders" and CANARY not in status["description"]
    assert "Changelog" in (await town.do("github.release_notes", tag="v1"))["notes"]
    rules = {"required_pull_request_reviews": {"required_approving_review_count": 1}}
    made = await town.do("github.protect", branch="main", rules=rules)
    assert made["before"] is None
    town.act("PATCH", "", {"allow_auto_merge": True})
    await town.do("github.auto_merge")
    assert town.act("GET", f"pulls/{town.number}")["auto_merge"]["merge_method"] == "squash"


@pytest.mark.parametrize(
    ("uses", "given", "order", "code"),
    [
        ("github.read_issue", {}, {"github": None}, "github_number_missing"),
        ("github.read_issue", {"number": 0}, {"github": {}}, "github_number_missing"),
        (
            "github.status",
            {"state": "success", "description": "d"},
            {"github": None},
            "github_head_missing",
        ),
        ("github.merge", {"head_sha": "../x"}, {}, "github_head_missing"),
        ("github.read_issue", {}, {"repository_url": "/srv/x"}, "github_not_configured"),
        ("github.read_issue", {"number": 999}, {}, "github_not_found"),
    ],
)
async def test_what_is_missing_is_said(
    town: Town, uses: str, given: dict[str, Any], order: dict[str, Any], code: str
) -> None:
    failed = await town.fail(uses, **given, order=order)
    assert (failed.failure.code, failed.failure.category) == (code, "permanent")


async def test_an_order_of_an_issue_is_about_it(town: Town) -> None:
    made = town.act("POST", "issues", {"title": "It breaks"})
    about = {"github": None, "github_issue_number": str(made["number"])}
    assert (await town.do("github.read_issue", order=about))["title"] == "It breaks"
