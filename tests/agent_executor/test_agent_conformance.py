"""The one suite, against every agent, in the fake and in the real sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from agent_work_orders.agent_executor import claude_code, command, script, scripted
from agent_work_orders.agent_executor.agent import Agent, AgentRequest
from agent_work_orders.agent_executor.claude_sign_in import SignIn
from agent_work_orders.clock import SystemClock
from agent_work_orders.ids import new_order_id
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.url import parse
from agent_work_orders.sandbox_manager.local.sandboxes import LocalSandboxes
from agent_work_orders.sandbox_manager.sandbox import Sandbox, Spec
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
    starts_within_s = 1.0

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
    starts_within_s = 1.0

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
    starts_within_s = 3.0

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
            sign_in=SignIn(base_url=self._model.url, api_key="sk-simulated"), max_retries=0
        )
        return claude_code.ClaudeCode(SystemClock(), settings)

    def remembers(self, text: str) -> bool:
        return any(text in said for said in self._model.requests[-1].texts)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Like tmp_path, but with parents that another user may pass through."""
    made = Path(tempfile.mkdtemp(prefix="awo-test-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
async def worktree(folder: Path) -> AsyncIterator[Sandbox]:
    source = folder / "source"
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.invalid"]
    for arguments in (
        ["init", "--quiet", "-b", "main", str(source)],
        [*who, "-C", str(source), "commit", "--quiet", "--allow-empty", "-m", "Begin"],
    ):
        subprocess.run(["git", *arguments], check=True, env={"PATH": os.environ["PATH"]})
    mirrors = Mirrors(folder / "home" / "mirrors", Git())
    mirror = await mirrors.ensure(parse(str(source)))
    sandboxes = LocalSandboxes(folder / "home", mirrors, SystemClock())
    made = sandboxes.open(
        Spec(
            order_id=new_order_id(),
            sandbox_type="git_worktree",
            repository=mirror.key,
            base_sha=mirror.resolve_base(None).sha,
            branch="awo/test",
        )
    )
    await made.setup()
    yield made
    await made.cleanup()
    sandboxes.close()


class TestScripted(AgentConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> ScriptedRig:
        return ScriptedRig(LocalSandbox(tmp_path))


class TestScriptedInWorktree(AgentConformance):
    @pytest.fixture
    def rig(self, worktree: Sandbox) -> ScriptedRig:
        return ScriptedRig(worktree)


class TestCommand(AgentConformance):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> CommandRig:
        return CommandRig(LocalSandbox(tmp_path))


class TestCommandInWorktree(AgentConformance):
    @pytest.fixture
    def rig(self, worktree: Sandbox) -> CommandRig:
        return CommandRig(worktree)

    async def test_the_prompt_file_is_readable_inside_and_never_committed(
        self, worktree: Sandbox
    ) -> None:
        agent = command.CommandAgent(command.Options(argv=("cat", "{prompt_file}")))
        turn = await agent.run(AgentRequest(prompt="the task"), worktree, transcript=print)
        assert turn.ok and turn.text == "the task"
        assert await worktree.commit("Nothing", author="A <a@example.invalid>", at_ms=0) is None


@pytest.mark.skipif(
    claude_code.find_binary(None) is None and os.environ.get("CI") != "true",
    reason="Claude Code is not installed (claude-agent-sdk)",
)
class TestClaudeCodeInWorktree(AgentConformance):
    """As another user, with a private home, below a supervisor: as in production."""

    @pytest.fixture
    async def rig(self, worktree: Sandbox) -> AsyncIterator[ClaudeRig]:
        async with ModelSimulator() as model:
            yield ClaudeRig(worktree, model)
