"""The real Claude Code CLI against the simulated model."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from agent_work_orders.agent_executor import resume
from agent_work_orders.agent_executor.agent import AgentRequest, Entry, Turn
from agent_work_orders.agent_executor.claude_code import ClaudeCode, Options, Settings, find_binary
from agent_work_orders.agent_executor.claude_sign_in import SignIn
from agent_work_orders.clock import SystemClock
from agent_work_orders.testing.fakes.local_sandbox import LocalSandbox
from agent_work_orders.testing.model_simulator import (
    Fault,
    ModelSimulator,
    Reply,
    Script,
    Text,
    refused_address,
)
from agent_work_orders.testing.model_simulator.script import call, say

pytestmark = pytest.mark.skipif(
    find_binary(None) is None and os.environ.get("CI") != "true",
    reason="Claude Code is not installed (claude-agent-sdk)",
)

KEY = "sk-simulated"


class Bench:
    def __init__(self, folder: Path, model: ModelSimulator) -> None:
        self.sandbox = LocalSandbox(folder)
        self.model = model
        self.entries: list[Entry] = []

    def agent(
        self, *, base_url: str | None = None, max_retries: int = 0, mcp_config: str = ""
    ) -> ClaudeCode:
        settings = Settings(
            sign_in=SignIn(base_url=base_url or self.model.url, api_key=KEY),
            mcp_config=mcp_config,
            max_retries=max_retries,
            other_user=False,
        )
        return ClaudeCode(SystemClock(), settings, Options())

    async def turn(
        self,
        request: AgentRequest,
        *,
        base_url: str | None = None,
        max_retries: int = 0,
        mcp_config: str = "",
        previous_cost_usd: float | None = None,
    ) -> Turn:
        agent = self.agent(base_url=base_url, max_retries=max_retries, mcp_config=mcp_config)
        return await agent.run(
            request,
            self.sandbox,
            transcript=self.entries.append,
            previous_cost_usd=previous_cost_usd,
        )

    async def git(self, *arguments: str) -> str:
        execution = await self.sandbox.execute(["git", *arguments])
        assert execution.success, execution.stderr
        return execution.stdout.decode()


@pytest.fixture
async def bench(tmp_path: Path):
    async with ModelSimulator() as model:
        bench = Bench(tmp_path, model)
        await bench.git("init", "-q", "-b", "main")
        await bench.git("config", "user.email", "agent@example.com")
        await bench.git("config", "user.name", "Agent")
        await bench.sandbox.write_file("calc.py", b"def add(a, b):\n    return a - b\n")
        await bench.git("add", "-A")
        await bench.git("commit", "-qm", "start")
        yield bench


async def test_edits_a_file_runs_git_and_reports_what_it_used(bench: Bench) -> None:
    path = str(bench.sandbox.workspace / "calc.py")
    bench.model.play(
        Script(
            turns=(
                call("Read", file_path=path),
                call("Edit", file_path=path, old_string="a - b", new_string="a + b"),
                call("Bash", command="git commit -qam fixed && git log --oneline", description="c"),
                say("Fixed."),
            )
        )
    )
    turn = await bench.turn(AgentRequest(prompt="fix add", timeout_s=60, model="sonnet"))
    assert turn.ok, turn
    assert turn.text == "Fixed."
    assert turn.saw_end and not turn.scripted
    assert turn.usage.turns == 4
    assert turn.usage.input_tokens == 4000
    assert turn.usage.cost_usd > 0
    assert b"a + b" in await bench.sandbox.read_file("calc.py")
    assert "fixed" in await bench.git("log", "--oneline")
    kinds = [entry.kind for entry in bench.entries]
    assert kinds[0] == "prompt"
    assert kinds.count("tool_use") == 3 and kinds.count("tool_result") == 3
    assert "sonnet" in bench.model.requests[0].body["model"]


async def test_resumes_its_session_and_bills_the_difference(bench: Bench) -> None:
    bench.model.play(Script(turns=(say("one"), say("two"))))
    first = await bench.turn(AgentRequest(prompt="remember the word lighthouse"))
    second = await bench.turn(
        AgentRequest(prompt="go on", session_id=first.session_id),
        previous_cost_usd=first.cumulative_cost_usd,
    )
    assert second.ok
    assert second.session_id == first.session_id
    assert any("lighthouse" in text for text in bench.model.requests[-1].texts)
    assert second.usage.cost_usd == pytest.approx(first.usage.cost_usd)
    assert second.cumulative_cost_usd == pytest.approx(2 * first.usage.cost_usd)


@pytest.mark.fault("G17")
@pytest.mark.parametrize("session", ["12345678-1234-4234-8234-123456789012", "--help", "gone\0"])
async def test_a_lost_session_goes_on_from_the_record(bench: Bench, session: str) -> None:
    record = [Entry(kind="prompt", text="remember lighthouse"), Entry(kind="text", text="I will")]
    path = await bench.sandbox.put_private(resume.FILE_NAME, resume.record(record).encode())
    secret = await bench.sandbox.put_private("other", b"something else\n")
    bench.model.play(
        Script(turns=(call("Read", file_path=path), call("Read", file_path=secret), say("new")))
    )
    turn = await bench.turn(
        AgentRequest(
            prompt="go on",
            session_id=session,
            history=resume.note(path, files_kept=True),
            history_file=path,
        ),
        previous_cost_usd=99.0,
    )
    assert turn.ok, turn
    assert turn.session_id not in (None, session)
    assert 0 < turn.usage.cost_usd < 1
    sent = next(text for text in bench.model.requests[-1].texts if text.endswith("go on"))
    assert path in sent
    seen = [entry.text for entry in bench.entries if entry.kind == "tool_result"]
    assert "said: I will" in seen[0]
    # One file of the home was opened for it, not the home.
    assert "something else" not in seen[1]


@pytest.mark.fault("F10")
@pytest.mark.parametrize("mcp_config", ["", json.dumps({"mcpServers": {}})])
async def test_nothing_in_the_workspace_configures_the_agent(bench: Bench, mcp_config: str) -> None:
    ran, outside = bench.sandbox.home / "ran", bench.sandbox.home / "outside.txt"
    hook = {"hooks": [{"type": "command", "command": f"touch {ran}"}]}
    planted = {
        "CLAUDE.md": "PLANTED-MEMORY",
        ".claude/CLAUDE.md": "PLANTED-MEMORY",
        ".claude/settings.json": json.dumps(
            {
                "hooks": {"SessionStart": [hook], "UserPromptSubmit": [hook], "Stop": [hook]},
                "permissions": {"allow": ["WebFetch", "Write"]},
                "env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},
            }
        ),
        ".claude/commands/plan.md": "PLANTED-COMMAND",
        ".claude/agents/helper.md": "---\nname: helper\ndescription: PLANTED-AGENT\n---\nx",
        ".claude/skills/s/SKILL.md": "---\nname: s\ndescription: PLANTED-SKILL\n---\nx",
        ".claude/output-styles/o.md": "---\nname: o\n---\nPLANTED-STYLE",
        ".mcp.json": json.dumps({"mcpServers": {"x": {"command": "touch", "args": [str(ran)]}}}),
    }
    for path, content in planted.items():
        await bench.sandbox.write_file(path, content.encode())
    bench.model.play(Script(turns=(call("Write", file_path=str(outside), content="x"), say("ok"))))
    turn = await bench.turn(
        AgentRequest(prompt="/plan something", instructions="TRUSTED-INSTRUCTIONS from base"),
        mcp_config=mcp_config,
    )
    assert turn.ok, turn
    sent = json.dumps(bench.model.requests[0].body)
    assert "PLANTED" not in sent
    assert "TRUSTED-INSTRUCTIONS" in bench.model.requests[0].system
    assert "/plan something" in bench.model.requests[0].texts[-1]
    assert not ran.exists()
    assert turn.denials == (f"Write({outside})",)
    assert not outside.exists()


async def test_a_users_slash_is_not_a_command_of_the_cli(bench: Bench) -> None:
    turn = await bench.turn(AgentRequest(prompt="/clear"))
    assert turn.ok
    assert bench.model.requests[0].texts[-1].endswith("/clear")


async def test_a_prompt_larger_than_an_argument_arrives(bench: Bench) -> None:
    turn = await bench.turn(AgentRequest(prompt="x " * 200_000))
    assert turn.ok
    assert len(bench.model.requests[0].texts[-1]) > 399_000


@pytest.mark.fault("G12")
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(status=400), "invalid_request"),
        (Fault(status=401), "auth"),
        (Fault(status=403), "auth"),
        (Fault(status=404), "invalid_request"),
        (Fault(status=429), "rate_limit"),
        (Fault(status=500), "server"),
        (Fault(status=529), "overloaded"),
        (Fault(kind="truncated"), "network"),
        (Fault(kind="reset"), "network"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.kind}-{value.status}",
)
async def test_classifies_what_the_model_does_wrong(bench: Bench, fault: Fault, kind: str) -> None:
    bench.model.play(Script(turns=(fault,)))
    turn = await bench.turn(AgentRequest(prompt="hello"))
    assert not turn.ok
    assert turn.error is not None and turn.error.kind == kind, turn.error
    assert turn.error.exit_code == 1


async def test_a_refused_connection_is_the_network(bench: Bench) -> None:
    with refused_address() as address:
        turn = await bench.turn(AgentRequest(prompt="hello"), base_url=address)
    assert turn.error is not None and turn.error.kind == "network"


@pytest.mark.fault("G12")
async def test_knows_when_to_come_back(bench: Bench) -> None:
    bench.model.play(Script(turns=(Fault(status=429, headers={"retry-after": "2"}),)))
    before = SystemClock().now_ms()
    turn = await bench.turn(AgentRequest(prompt="hello"), max_retries=1)
    assert turn.error is not None and turn.error.kind == "rate_limit"
    assert turn.error.retry_at_ms is not None and turn.error.retry_at_ms >= before + 2000


async def test_a_fault_that_passes_is_survived(bench: Bench) -> None:
    bench.model.play(Script(turns=(Fault(status=500, times=1), say("late"))))
    turn = await bench.turn(AgentRequest(prompt="hello"), max_retries=1)
    assert turn.ok and turn.text == "late"


async def test_stops_at_its_turns(bench: Bench) -> None:
    bench.model.play(Script(after=call("Bash", command="true", description="again")))
    turn = await bench.turn(AgentRequest(prompt="loop", max_turns=2))
    assert turn.error is not None and turn.error.kind == "max_turns"


@pytest.mark.fault("G4")
async def test_a_model_that_hangs_is_idle_or_late_and_leaves_nothing(bench: Bench) -> None:
    bench.model.play(Script(turns=(Fault(kind="hang"),)))
    turn = await bench.turn(AgentRequest(prompt="hello", idle_s=2))
    assert turn.error is not None and turn.error.kind == "idle"
    turn = await bench.turn(AgentRequest(prompt="hello", timeout_s=2))
    assert turn.error is not None and turn.error.kind == "timeout"
    assert turn.session_id is not None


@pytest.mark.fault("G11")
@pytest.mark.parametrize(
    ("signal", "kind"), [("TERM", "interrupted"), ("INT", "interrupted"), ("KILL", "crashed")]
)
async def test_a_signal_is_not_a_success(bench: Bench, signal: str, kind: str) -> None:
    bench.model.play(
        Script(turns=(call("Bash", command=f"kill -{signal} $PPID; sleep 5", description="k"),))
    )
    turn = await bench.turn(AgentRequest(prompt="end yourself"))
    assert not turn.ok
    assert turn.error is not None and turn.error.kind == kind, turn
    assert turn.session_id is not None and turn.usage.input_tokens == 1000


async def test_cancelling_kills_the_tools_too(bench: Bench) -> None:
    bench.model.play(
        Script(turns=(call("Bash", command="echo $$ > pid; exec sleep 600", description="s"),))
    )
    running = asyncio.create_task(bench.turn(AgentRequest(prompt="sleep", timeout_s=60)))
    pid = bench.sandbox.workspace / "pid"
    while not pid.exists() or not pid.read_text().strip():
        await asyncio.sleep(0.05)
        assert not running.done(), running
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not os.path.exists(f"/proc/{pid.read_text().strip()}/exe")
    assert bench.entries[-1].data["usage"]["input_tokens"] == 1000


async def test_two_replies_in_one_message_are_both_told(bench: Bench) -> None:
    bench.model.play(Script(turns=(Reply(blocks=(Text(text="one"), Text(text="two"))),)))
    turn = await bench.turn(AgentRequest(prompt="hello"))
    assert turn.ok
    said = [entry.text for entry in bench.entries if entry.kind == "text"]
    assert said == ["one", "two"]
