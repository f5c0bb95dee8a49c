"""The one suite, against every agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_work_orders.agent_executor import claude_code, command, script, scripted
from agent_work_orders.agent_executor.agent import Agent
from agent_work_orders.clock import SystemClock
from agent_work_orders.sandbox_manager.sandbox import Sandbox
from agent_work_orders.testing.conformance.agent import (
    BEAT,
    EDITED,
    FLOOD_BYTES,
    AgentConformance,
    Deed,
)
from agent_work_orders.testing.fakes.local_sandbox import LocalSandbox
from agent_work_orders.testing.model_simulator import Fault, ModelSimulator, Script
from agent_work_orders.testing.model_simulator.script import call, say

FLOOD = f"head -c {FLOOD_BYTES} /dev/zero | tr '\\0' 'x'; echo; yes | head -c {FLOOD_BYTES}"


class ScriptedRig:
    resumes = False

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def agent(self, deed: Deed) -> Agent:
        made = script.Write(path="made.txt", content=EDITED.decode())
        steps: dict[Deed, script.Steps] = {
            "edit": (made, script.Say(text="Made it.")),
            "fail": (made, script.Fail()),
            "hang": (script.Run(argv=("sh", "-c", BEAT)),),
            "flood": (script.Run(argv=("sh", "-c", FLOOD)),),
        }
        plan = script.Script(commands={deed: (steps[deed],)})
        return scripted.ScriptedAgent(plan, SystemClock())

    def remembers(self, text: str) -> bool:
        return False


class CommandRig:
    resumes = False

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def agent(self, deed: Deed) -> Agent:
        made = f"cat > /dev/null; printf '{EDITED.decode().strip()}\\n' > made.txt; "
        lines: dict[Deed, str] = {
            "edit": made + "echo Made it.",
            "fail": made + "exit 3",
            "hang": BEAT,
            "flood": FLOOD,
        }
        return command.CommandAgent(command.Options(argv=("sh", "-c", lines[deed])))

    def remembers(self, text: str) -> bool:
        return False


class ClaudeRig:
    resumes = True

    def __init__(self, sandbox: Sandbox, model: ModelSimulator) -> None:
        self.sandbox = sandbox
        self._model = model

    def agent(self, deed: Deed) -> Agent:
        write = f"printf '{EDITED.decode().strip()}\\n' > made.txt"
        made = call("Bash", command=write, description="make it")
        turns: dict[Deed, Script] = {
            "edit": Script(turns=(made, say("Made it."))),
            "fail": Script(turns=(made, Fault(status=500))),
            "hang": Script(turns=(call("Bash", command=BEAT, description="beat"),)),
            "flood": Script(
                turns=(call("Bash", command=FLOOD, description="flood"), say("y" * 500_000))
            ),
        }
        self._model.play(turns[deed])
        settings = claude_code.Settings(
            base_url=self._model.url, api_key="sk-simulated", max_retries=0, scrub=False
        )
        return claude_code.ClaudeCode(SystemClock(), settings)

    def remembers(self, text: str) -> bool:
        return any(text in said for said in self._model.requests[-1].texts)


class TestScripted(AgentConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> ScriptedRig:
        return ScriptedRig(LocalSandbox(tmp_path))


class TestCommand(AgentConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> CommandRig:
        return CommandRig(LocalSandbox(tmp_path))


@pytest.mark.skipif(
    claude_code.find_binary(None) is None,
    reason="Claude Code is not installed (claude-agent-sdk)",
)
class TestClaudeCode(AgentConformance):
    @pytest.fixture
    async def rig(self, tmp_path: Path) -> AsyncIterator[ClaudeRig]:
        async with ModelSimulator() as model:
            yield ClaudeRig(LocalSandbox(tmp_path), model)
