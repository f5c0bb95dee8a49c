"""`git.*`: the order's branch moves once per task, and never over somebody else's commits."""

from __future__ import annotations

import json
import shutil

import pytest
from bench import BRANCH, CANARY, ORDER, Bench, Crash, git

from agent_work_orders.repositories.refname import order_ref
from agent_work_orders.tools import git as git_tools

ONE = "default: [{write: {path: one.txt, content: one}}]"


def change(bench: Bench, name: str, content: str) -> str:
    """A commit of somebody else on the branch that is checked out."""
    (bench.source / name).write_text(content)
    git(bench.source, "add", ".")
    git(bench.source, "commit", "--quiet", "-m", f"Change {name}")
    return git(bench.source, "rev-parse", "HEAD")


async def test_commit_takes_what_programs_changed(bench: Bench) -> None:
    await bench.do("sandbox.exec", argv=["sh", "-c", "echo made > made.txt"])
    outputs = await bench.do("git.commit", path="keep", message="keep it\nAwo-Key: forged")
    assert outputs == {"commit": await bench.head(), "changed": True, "left_out": []}
    assert await bench.log() == ["feat: keep it"]
    assert (await bench.do("git.commit", path="again", message="more"))["changed"] is False
    # The same task again is answered from the ledger.
    assert (await bench.do("git.commit", path="keep", message="other", attempt=2)) == outputs


async def test_uncommitted_changes_of_a_finished_task_survive_a_restart(bench: Bench) -> None:
    await bench.do("sandbox.exec", argv=["sh", "-c", "echo made > made.txt"])
    bench.restart()
    assert (await bench.do("git.commit", message="keep"))["changed"] is True
    assert "made.txt" in await bench.files()


@pytest.mark.parametrize("moment", ["after the import", "after the move"])
async def test_a_commit_is_adopted_after_a_crash(bench: Bench, moment: str) -> None:
    await bench.do("sandbox.exec", argv=["sh", "-c", "echo made > made.txt"])
    bench.restart(crash_at=":commit:1:commit")
    with pytest.raises(Crash):
        await bench.do("git.commit", message="keep")
    head = await bench.head()
    assert head is not None
    if moment == "after the import":
        mirror = bench.mirrors.at(bench.order.repository)
        await mirror.delete_refs(order_ref(ORDER, "head"))
    bench.restart()
    outputs = await bench.do("git.commit", message="keep", attempt=2)
    assert outputs == {"commit": head, "changed": True}
    assert await bench.head() == head


@pytest.mark.fault("F13")
async def test_names_and_messages_of_others_are_data(bench: Bench) -> None:
    (bench.source / "x.txt").write_text("x")
    git(bench.source, "add", ".")
    name = '\x1b[31m"; id #'
    git(
        bench.source,
        "-c", f"user.name={name}",
        "commit", "--quiet", "--author", f"{name} <a@b.invalid>", "-m", "m\x1b]0;title\x07" * 2000,
    )  # fmt: skip
    await bench.agent(ONE)
    outputs = await bench.do("git.push")
    assert git(bench.source, "rev-parse", BRANCH) == outputs["head"]


async def test_rebase_moves_the_base_too(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    newer = change(bench, "theirs.txt", "theirs\n")
    outputs = await bench.do("git.rebase")
    assert outputs["head"] == await bench.head()
    assert await bench.files() == {"README.md", "one.txt", "theirs.txt"}
    mirror = bench.mirrors.at(bench.order.repository)
    assert await mirror.ref(order_ref(ORDER, "base")) == newer
    stat = await mirror.diff_stat(newer, outputs["head"])
    assert stat.files_changed == 1
    # Later tasks count from the new base, also after a restart.
    bench.restart()
    opened = await bench.do("forge.open_pull_request")
    [review] = bench.forge.reviews(bench.order.repository)
    assert review.proposal.base_sha == newer
    assert review.proposal.evidence["files_changed"] == 1
    assert opened["head"] == outputs["head"]


async def test_rebase_again_changes_nothing_even_over_merges(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    git(bench.source, "checkout", "--quiet", "-b", "side")
    change(bench, "side.txt", "side\n")
    git(bench.source, "checkout", "--quiet", "main")
    git(bench.source, "merge", "--quiet", "--no-ff", "-m", "merge", "side")
    first = await bench.do("git.rebase")
    # The head moved, the base did not: the attempt was cut off between the two.
    mirror = bench.mirrors.at(bench.order.repository)
    await mirror.delete_refs(order_ref(ORDER, "base"))
    bench.restart()
    assert await bench.do("git.rebase", attempt=2) == first
    assert await mirror.ref(order_ref(ORDER, "base")) == git(bench.source, "rev-parse", "main")


@pytest.mark.fault("E2")
async def test_a_conflict_names_the_files_and_moves_nothing(bench: Bench) -> None:
    await bench.agent("default: [{write: {path: README.md, content: ours}}]", path="build")
    before = await bench.head()
    change(bench, "README.md", "theirs\n")
    failed = await bench.fail("git.rebase")
    assert failed.failure.code == "git_conflict"
    assert failed.failure.context["files"] == ["README.md"]
    assert await bench.head() == before


@pytest.mark.fault("E11")
async def test_push_is_once_and_never_over_foreign_commits(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    first = await bench.do("git.push")
    assert git(bench.source, "rev-parse", BRANCH) == first["head"]
    git(bench.source, "checkout", "--quiet", BRANCH)
    (bench.source / "person.txt").write_text("by hand")
    git(bench.source, "add", ".")
    git(bench.source, "commit", "--quiet", "-m", "by hand")
    foreign = git(bench.source, "rev-parse", BRANCH)
    git(bench.source, "checkout", "--quiet", "main")
    await bench.agent("default: [{write: {path: two.txt, content: two}}]", path="more")
    failed = await bench.fail("git.push", path="again")
    assert failed.failure.code == "remote_changed"
    assert git(bench.source, "rev-parse", BRANCH) == foreign


@pytest.mark.fault("J5")
@pytest.mark.parametrize("uses", ["git.push", "forge.open_pull_request"])
async def test_nothing_is_pushed_for_a_forks_pull_request(bench: Bench, uses: str) -> None:
    await bench.agent(ONE)
    about = {"github": {"pull_request": 9, "from_fork": True}}
    refused = await bench.fail(uses, order=about)
    assert refused.failure.code == "fork_not_pushed"
    assert git(bench.source, "branch", "--list", BRANCH) == ""
    await bench.do(uses, order={"github": {"pull_request": 9, "from_fork": False}}, path="again")
    assert BRANCH in git(bench.source, "branch", "--list", BRANCH)


async def test_a_push_whose_answer_was_lost_is_found(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    bench.restart(crash_at=":push:")
    with pytest.raises(Crash):
        await bench.do("git.push")
    pushed = git(bench.source, "rev-parse", BRANCH)
    bench.restart()
    assert (await bench.do("git.push", attempt=2))["head"] == pushed


async def test_a_deleted_branch_is_pushed_again_by_a_retry(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    outputs = await bench.do("git.push")
    assert (await bench.undo("git.delete_branch", **outputs)).failure is None
    assert git(bench.source, "branch", "--list", BRANCH) == ""
    # Again: what is gone is gone.
    assert (await bench.undo("git.delete_branch", **outputs)).failure is None
    again = await bench.do("git.push", generation=2)
    assert git(bench.source, "rev-parse", BRANCH) == again["head"]


async def test_only_the_orders_own_branch_is_deleted(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    undone = await bench.undo("git.delete_branch", branch="main", head="0" * 40)
    assert undone.failure is not None and undone.failure.code == "branch_not_ours"
    outputs = await bench.do("git.push")
    git(bench.source, "branch", "-f", BRANCH, "main")
    undone = await bench.undo("git.delete_branch", **outputs)
    assert undone.failure is not None and undone.failure.code == "remote_changed"
    assert git(bench.source, "branch", "--list", BRANCH) != ""


async def test_rollback_goes_to_a_commit_of_the_order_only(bench: Bench) -> None:
    first = await bench.agent(ONE, path="a")
    await bench.agent("default: [{write: {path: two.txt, content: two}}]", path="b")
    assert (await bench.do("git.rollback", to=first["commit"]))["head"] == first["commit"]
    assert await bench.files() == {"README.md", "one.txt"}
    ran = await bench.do("sandbox.exec", argv=["ls"])
    assert "two.txt" not in ran["stdout"]
    failed = await bench.fail("git.rollback", path="r", to="0" * 40)
    assert failed.failure.code == "commit_not_ours"
    base = bench.stored[f"{ORDER}:base"].receipt
    assert base is not None
    assert (await bench.do("git.rollback", path="all", to="base"))["head"] == base["base_sha"]


async def test_a_lost_workspace_is_made_again(bench: Bench) -> None:
    await bench.agent(ONE, path="build")
    shutil.rmtree(bench.repo.parent)
    ran = await bench.do("sandbox.exec", argv=["cat", "one.txt"])
    assert ran["stdout"] == "one"
    shutil.rmtree(bench.repo.parent)
    more = await bench.agent("default: [{write: {path: two.txt, content: two}}]", path="more")
    assert more["changed"]
    assert await bench.files() == {"README.md", "one.txt", "two.txt"}


@pytest.mark.fault("I1")
@pytest.mark.parametrize(
    "steps",
    [
        f"printf 'key = %s' '{CANARY}' > config.txt",
        f"printf '\\000\\001%s' '{CANARY}' > data.bin",
        f"mkdir -p d && : > 'd/{CANARY.replace('/', '_')}'",
        f"printf %s '{CANARY}' | base64 > encoded.txt",
    ],
)
async def test_a_secret_of_ours_is_not_pushed(bench: Bench, steps: str) -> None:
    bench.redactor.remember([CANARY.replace("/", "_")])
    script = json.dumps({"default": [{"run": ["sh", "-c", steps]}]})
    await bench.agent(script, path="build")
    assert (await bench.fail("git.push")).failure.code == "secret_in_commits"
    assert git(bench.source, "branch", "--list", BRANCH) == ""


async def test_one_that_was_taken_out_again_is_still_there(bench: Bench) -> None:
    for path, content in (("build", CANARY), ("again", "nothing")):
        script = {"default": [{"write": {"path": "a.txt", "content": content}}]}
        await bench.agent(json.dumps(script), path=path)
    assert (await bench.fail("git.push")).failure.code == "secret_in_commits"


async def test_what_only_looks_like_a_secret_is_pushed(bench: Bench) -> None:
    script = {"default": [{"write": {"path": "a.txt", "content": "ghp_" + "a" * 36}}]}
    await bench.agent(json.dumps(script), path="build")
    await bench.do("git.push")
    assert git(bench.source, "branch", "--list", BRANCH)


async def test_what_is_too_large_to_search_is_not_pushed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_tools, "SEARCHED_BYTES", 1_000)
    script = {"default": [{"write": {"path": "a.txt", "content": "long " * 400}}]}
    await bench.agent(json.dumps(script), path="build")
    assert (await bench.fail("git.push")).failure.code == "commits_too_large"
