"""`agent.*`: one commit per task, prompts at turn boundaries, evidence of what failed."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from bench import CANARY, ORDER, Bench, Crash, git

from agent_work_orders.agent_executor.agent import Entry
from agent_work_orders.agent_executor.transcript import encode
from agent_work_orders.engines.perform import Context
from agent_work_orders.repositories.refname import order_ref
from agent_work_orders.tools.tool import Prompt
from agent_work_orders.workflow_engine.events import TaskFailed, TaskParked, TaskSucceeded

WRITE = "default: [{write: {path: made.txt, content: made}}, {text: done}]"


async def test_what_the_agent_changed_is_one_commit_with_its_trailers(bench: Bench) -> None:
    outputs = await bench.agent(WRITE, path="build")
    assert outputs["changed"] and not outputs["no_changes"]
    assert outputs["files_changed"] == 1
    assert outputs["scripted"] is True
    assert outputs["text"] == "done"
    assert await bench.log() == ["feat: build: Do it"]
    mirror = bench.mirrors.at(bench.order.repository)
    base = bench.stored[f"{ORDER}:base"].receipt
    assert base is not None
    [commit] = await mirror.log(base["base_sha"], outputs["commit"])
    assert commit.trailers == {
        "Awo-Order": ORDER,
        "Awo-Task": "build",
        "Awo-Phase": "implementing",
        "Awo-Key": f"{ORDER}:build:1",
    }
    events = [event for event, _ in bench.lines]
    assert events == [
        "git_branch_created",
        "sandbox_created",
        "agent_command_started",
        "git_commit_created",
        "agent_command_completed",
    ]


@pytest.mark.fault("E14")
@pytest.mark.parametrize(
    "steps",
    [
        "{text: nothing to do}",
        "{run: [sh, -c, 'git -C . config x.y z; echo x > .git/stray']}",
        "{run: [sh, -c, 'echo new > made.txt && rm made.txt']}",
    ],
)
async def test_no_change_is_said_and_no_pull_request_is_made(bench: Bench, steps: str) -> None:
    outputs = await bench.agent(f"default: [{steps}]")
    assert outputs["no_changes"] and outputs["commit"] is None and outputs["files_changed"] == 0
    failed = await bench.fail("forge.open_pull_request")
    assert failed.failure.code == "no_changes"
    assert bench.forge.reviews(bench.order.repository) == []
    assert git(bench.source, "branch", "--list", "feat-*") == ""


@pytest.mark.fault("E15")
@pytest.mark.parametrize(
    "line",
    [
        "git checkout -q --orphan other && git commit -q -m x",
        "rm -rf .git && git init -q && git add -A && git commit -q -m mine",
        "git commit -q --amend -m theirs && git update-ref -d HEAD",
        "mkdir nested && cd nested && git init -q && echo x > in.txt",
    ],
)
async def test_history_is_the_hosts_whatever_the_agent_does(bench: Bench, line: str) -> None:
    script = f"default: [{{run: [sh, -c, 'echo made > made.txt; {line}']}}]"
    outputs = await bench.agent(script, path="build")
    base = bench.stored[f"{ORDER}:base"].receipt
    assert base is not None
    mirror = bench.mirrors.at(bench.order.repository)
    [commit] = await mirror.log(base["base_sha"], outputs["commit"])
    assert commit.parents == (base["base_sha"],)
    assert commit.subject == "feat: build: Do it"
    assert await mirror.show(outputs["commit"], "made.txt") == b"made\n"
    assert git(bench.source, "rev-parse", "main") == base["base_sha"]


async def test_a_task_that_committed_is_not_run_again_after_a_crash(bench: Bench) -> None:
    bench.restart(crash_at=":build:1:commit")
    with pytest.raises(Crash):
        await bench.agent(WRITE, path="build")
    assert len(await bench.log()) == 1
    bench.restart()
    again = await bench.agent("default: [{fail: {kind: crashed}}]", path="build", attempt=2)
    assert again["changed"] and again["commit"] == await bench.head()
    assert len(await bench.log()) == 1


async def test_a_failed_attempt_keeps_evidence_and_leaves_nothing(bench: Bench) -> None:
    script = "default: [{write: {path: half.txt, content: half}}, {fail: {kind: exit_code}}]"
    chosen = {"agent": {"name": "scripted", "script": script}}
    failed = await bench.fail("agent.prompt", path="build", prompt="go", order=chosen)
    assert failed.failure.code == "agent_failed"
    assert failed.outputs is not None
    mirror = bench.mirrors.at(bench.order.repository)
    assert await mirror.show(failed.outputs["kept_sha"], "half.txt") == b"half"
    assert await bench.head() is None
    # What follows starts from the head, not from the half-done files.
    ran = await bench.do("sandbox.exec", argv=["ls"])
    assert "half.txt" not in ran["stdout"]


async def test_evidence_is_kept_for_the_longest_path(bench: Bench) -> None:
    path = ".".join(["a_rather_long_name_of_a_task[12]"] * 8)
    chosen = {"agent": {"name": "scripted", "script": "default: [{fail: {kind: exit_code}}]"}}
    failed = await bench.fail("agent.prompt", path=path, prompt="go", order=chosen)
    assert failed.failure.code == "agent_failed"
    assert failed.outputs is not None and failed.outputs["kept_sha"]


async def test_a_cancelled_agent_leaves_no_half_work_for_the_next_task(bench: Bench) -> None:
    script = "default: [{write: {path: half.txt, content: half}}, {delay: 60}]"
    chosen = {"agent": {"name": "scripted", "script": script}}
    work = asyncio.create_task(bench.perform("agent.prompt", path="a", prompt="go", order=chosen))
    while not (bench.repo / "half.txt").exists():
        await asyncio.sleep(0.01)
    work.cancel()
    answer = await work
    assert isinstance(answer, TaskFailed) and answer.failure.code == "cancelled"
    assert (await bench.do("git.commit", message="rest"))["changed"] is False


async def test_a_head_that_moved_in_a_cancelled_step_is_read_again(bench: Bench) -> None:
    await bench.agent(WRITE, path="a")
    mirror, head = bench.mirrors.at(bench.order.repository), await bench.head()
    assert head is not None
    async with bench.workspaces.own(_context(bench)) as workspace:
        pass
    # As if the move was done and the cancellation came before we heard of it.
    tree = await mirror.tree_of(head)
    moved = await mirror.commit_tree(tree, [head], "x", author="a <a@b.invalid>", at_ms=0)
    try:
        async with bench.workspaces.own(_context(bench)):
            await mirror.set_ref(order_ref(ORDER, "head"), moved, old=head)
            raise asyncio.CancelledError
    except asyncio.CancelledError:
        pass
    assert workspace.head_sha == head
    outputs = await bench.agent("default: [{write: {path: b.txt, content: b}}]", path="b")
    assert outputs["changed"]
    assert len(await bench.log()) == 3


async def test_prompts_that_come_while_it_works_join_the_one_commit(bench: Bench) -> None:
    script = """
    default: [{run: [sh, -c, 'echo turn >> turns.txt']}, {text: ok}]
    """
    bench.waiting = [Prompt(prompt_id="p1", text="more"), Prompt(prompt_id="p2", text="still more")]
    answer = await bench.perform(
        "agent.prompt",
        path="build",
        prompt="go",
        order={"agent": {"name": "scripted", "script": script}},
    )
    assert isinstance(answer, TaskSucceeded)
    assert answer.prompts == ("p1", "p2")
    mirror = bench.mirrors.at(bench.order.repository)
    assert await mirror.show(answer.outputs["commit"], "turns.txt") == b"turn\n" * 3
    assert len(await bench.log()) == 1
    said = [msgspec.json.decode(line) for line in bench.transcript]
    assert [entry["kind"] for entry in said].count("prompt") == 3


async def test_a_prompt_during_the_commit_is_delivered_and_amended(bench: Bench) -> None:
    """It is asked for again after the commit, so nothing said in time is lost."""
    script = "default: [{run: [sh, -c, 'echo turn >> turns.txt']}]"
    late = Prompt(prompt_id="late", text="one more thing")
    asked = 0

    def waiting() -> list[Prompt]:
        nonlocal asked
        asked += 1
        return [] if asked == 1 else [late]

    request = bench.request(
        "agent.prompt",
        path="build",
        prompt="go",
        order={"agent": {"name": "scripted", "script": script}},
    )
    answer = await bench.desk.perform(request, waiting)
    assert isinstance(answer, TaskSucceeded), answer
    assert answer.prompts == ("late",)
    mirror = bench.mirrors.at(bench.order.repository)
    assert await mirror.show(answer.outputs["commit"], "turns.txt") == b"turn\nturn\n"
    assert await bench.log() == ["feat: build: Do it"]


@pytest.mark.fault("G12")
async def test_a_used_up_quota_parks_until_it_is_back(bench: Bench) -> None:
    script = "default: [{fail: {kind: rate_limit, retry_after_s: 120}}]"
    before_ms = bench.desk.clock.now_ms()
    answer = await bench.perform(
        "agent.prompt", prompt="go", order={"agent": {"name": "scripted", "script": script}}
    )
    assert isinstance(answer, TaskParked)
    assert answer.reason == "model_quota"
    assert answer.until_ms >= before_ms + 119_000


@pytest.mark.fault("G11")
@pytest.mark.parametrize(
    ("line", "code", "category"),
    [
        ("exit 0", "agent_protocol_error", "permanent"),
        ("echo x > made.txt; echo did it; exit 1", "agent_failed", "permanent"),
        ("echo hello; kill -9 $$", "agent_crashed", "transient"),
        ("echo hello; kill -11 $$", "agent_crashed", "transient"),
    ],
)
async def test_how_a_program_ended_decides(
    bench: Bench, line: str, code: str, category: str
) -> None:
    chosen = {"agent": {"name": "command", "argv": ["sh", "-c", line]}}
    failed = await bench.fail("agent.prompt", path="a", prompt="go", order=chosen)
    assert (failed.failure.code, failed.failure.category) == (code, category)
    if "made.txt" in line:
        assert failed.outputs is not None
        mirror = bench.mirrors.at(bench.order.repository)
        assert await mirror.show(failed.outputs["kept_sha"], "made.txt") == b"x\n"


@pytest.mark.fault("F10")
async def test_commands_and_instructions_come_from_the_base_commit(bench: Bench) -> None:
    commands = bench.source / ".claude" / "commands"
    (commands / "deep").mkdir(parents=True)
    (commands / "mend.md").write_text("Mend THE-BASE-WAY: $ARGUMENTS\n")
    (commands / "deep" / "er.md").write_text("Deeper\n")
    (bench.source / "AGENTS.md").write_text("BASE-RULES\n")
    git(bench.source, "add", ".")
    git(bench.source, "commit", "-q", "-m", "rules")
    argv = ["sh", "-c", "cat; echo 'Mend MY-WAY' > .claude/commands/mend.md; echo MY > AGENTS.md"]
    order = {"agent": {"name": "command", "argv": argv}}
    first = await bench.do("agent.command", path="a", command="mend", arguments=["x"], order=order)
    assert "THE-BASE-WAY" in first["text"] and "BASE-RULES" in first["text"]
    assert first["changed"]
    again = await bench.do("agent.command", path="b", command="mend", order=order)
    assert "THE-BASE-WAY" in again["text"] and "MY-WAY" not in again["text"]
    assert "BASE-RULES" in again["text"]
    deep = await bench.do("agent.command", path="c", command="deep:er", order=order)
    assert "Deeper" in deep["text"]


@pytest.mark.fault("F11")
async def test_the_repositorys_env_file_reaches_nobody(bench: Bench) -> None:
    (bench.source / ".env").write_text("PLANTED=yes\nANTHROPIC_API_KEY=planted\n")
    git(bench.source, "add", "-f", ".env")
    git(bench.source, "commit", "-q", "-m", "env")
    ran = await bench.do("sandbox.exec", argv=["env"])
    assert "PLANTED" not in ran["stdout"] and "ANTHROPIC" not in ran["stdout"]


@pytest.mark.fault("L5")
@pytest.mark.fault("F2")
@pytest.mark.parametrize(
    "title",
    ["$(touch pwned)", "`id`;id", "-rf ..", "${IFS}x", "a\nAwo-Key: forged", "x" * 5000, "‮gnp"],
)
async def test_a_hostile_title_is_only_a_subject(bench: Bench, title: str) -> None:
    outputs = await bench.agent_titled(title)
    mirror = bench.mirrors.at(bench.order.repository)
    base = bench.stored[f"{ORDER}:base"].receipt
    assert base is not None
    [commit] = await mirror.log(base["base_sha"], outputs["commit"])
    assert commit.trailers["Awo-Key"] == f"{ORDER}:build:1"
    assert len(commit.subject) <= 72 and "\n" not in commit.subject
    assert await bench.files() == {"README.md", "made.txt"}


@pytest.mark.fault("I1")
async def test_secrets_stay_out_of_what_is_kept(bench: Bench) -> None:
    script = f"default: [{{text: 'it is {CANARY}'}}, {{write: {{path: a, content: b}}}}]"
    outputs = await bench.agent(script)
    assert CANARY not in outputs["text"] and "[redacted]" in outputs["text"]
    assert CANARY.encode() not in b"".join(bench.transcript)
    failing = f"default: [{{fail: {{kind: exit_code, message: '{CANARY}'}}}}]"
    chosen = {"agent": {"name": "scripted", "script": failing}}
    failed = await bench.fail("agent.prompt", path="b", prompt="go", order=chosen)
    assert CANARY not in str(failed)


async def test_an_order_without_a_prompt_runs_its_commands(bench: Bench) -> None:
    order = {
        "agent": {"name": "command", "argv": ["sh", "-c", "cat; echo x > made.txt"]},
        "prompt": "",
        "title": "",
    }
    outputs = await bench.do("agent.command", path="plan", command="plan", order=order)
    assert "Plan the work" in outputs["text"]
    assert await bench.log() == ["feat: plan"]
    failed = await bench.fail("agent.prompt", path="p", prompt="  ", order=order)
    assert failed.failure.code == "prompt_empty"


def _context(bench: Bench) -> Context:
    return Context(bench.request("git.commit"), bench.desk, list)


# Fails in its first turn; later it keeps what it was told and what the record holds.
REMEMBERING = """
cat > told.txt
file=$(grep -o '/[^ ]*earlier-turns.txt' told.txt)
if [ -z "$file" ]; then echo "I found the lighthouse" && echo half > half.txt && exit 3; fi
stat -c %a "$file" > mode.txt; cp "$file" seen.txt
"""


@pytest.mark.fault("G17")
@pytest.mark.parametrize("lost", [False, True])
async def test_the_next_attempt_gets_the_record_of_the_last(bench: Bench, lost: bool) -> None:
    agent = {"name": "command", "argv": ["sh", "-c", REMEMBERING]}
    asked = {"path": "build", "prompt": "Go", "order": {"agent": agent}}
    failed = await bench.fail("agent.prompt", **asked)
    assert failed.failure.code == "agent_failed"
    if lost:
        # The sandbox is gone with everything that the agent itself kept.
        await bench.workspaces.close(ORDER)
        bench.restart()
    # Written by a server that did not know the secret yet.
    bench.transcript.append(encode(Entry(kind="text", text=f"It is {CANARY}")))
    await bench.do("agent.prompt", attempt=2, **asked)
    assert await bench.files() == {"README.md", "told.txt", "seen.txt", "mode.txt"}
    told = (bench.repo / "told.txt").read_text()
    assert "not in the workspace any more" in told and "Go" in told
    record = (bench.repo / "seen.txt").read_text()
    assert "said: I found the lighthouse" in record and "Do what the request below asks" in record
    assert "said: It is " in record and CANARY not in record
    assert (bench.repo / "mode.txt").read_text() == "600\n"


async def test_a_prompt_in_between_comes_with_what_was_said_before(bench: Bench) -> None:
    agent = {"name": "command", "argv": ["sh", "-c", "cat > told.txt; echo I am at the shore"]}
    bench.waiting = [Prompt(prompt_id="p1", text="And now?")]
    await bench.do("agent.prompt", path="build", prompt="Go", order={"agent": agent})
    told = (bench.repo / "told.txt").read_text()
    assert "And now?" in told and "as they left them" in told
    home = bench.repo.parent / "home"
    assert "said: I am at the shore" in (home / "earlier-turns.txt").read_text()


async def test_an_agent_that_spoiled_its_home_goes_on_without_a_memory(bench: Bench) -> None:
    script = "mkdir $HOME/earlier-turns.txt $HOME/earlier-turns.txt/x; echo said; exit 3"
    first = {"agent": {"name": "command", "argv": ["sh", "-c", script]}}
    await bench.fail("agent.prompt", path="build", prompt="Go", order=first)
    second = {"agent": {"name": "command", "argv": ["sh", "-c", "cat > told.txt"]}}
    await bench.do("agent.prompt", path="build", prompt="Go", order=second, attempt=2)
    assert "earlier-turns" not in (bench.repo / "told.txt").read_text()
