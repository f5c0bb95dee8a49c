"""`agent.command` and `agent.prompt`: let an agent work, and commit what it changed.

One task makes at most one commit, whatever the agent did and however often it was started: the
order's head moves once, to a commit that carries the task's key, and a task whose commit is
already there is not run again. Every attempt starts from the order's head with a clean tree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from agent_work_orders.agent_executor import transcript
from agent_work_orders.agent_executor.agent import Agent, AgentError, Entry, Request, Turn
from agent_work_orders.agent_executor.registry import Registry
from agent_work_orders.command_loader import asked, catalogue, expansion, instructions
from agent_work_orders.errors import Failed
from agent_work_orders.tools import commit_message
from agent_work_orders.tools.agent_failure import meaning
from agent_work_orders.tools.agent_history import History, Recall
from agent_work_orders.tools.base_files import base_files
from agent_work_orders.tools.schema import fields, flag, integer, nullable, text, texts
from agent_work_orders.tools.tool import JsonObject, Parked, ToolContext
from agent_work_orders.tools.workspaces import Workspace, Workspaces
from agent_work_orders.workflow_engine.catalogue import ToolInfo

TEXT_LIMIT = 8_000
# A person who keeps talking must not keep one task open for ever.
MAX_TURNS_BY_PROMPT = 50

_SHARED: dict[str, Any] = {
    "feedback": text("What went wrong last time: given to the agent as data"),
    "model": text("The agent's model; the agent's own default when absent"),
    "max_turns": integer("At most so many turns of the model", minimum=1),
}
_OUTPUTS = fields(
    text=text("What the agent said at the end"),
    session_id=nullable(text("The agent's session, for resuming it")),
    commit=nullable(text("The commit that the task made")),
    changed=flag("Whether any file changed"),
    no_changes=flag("Whether no file changed"),
    files_changed=integer("How many files changed"),
    scripted=flag("Whether the agent followed a script instead of a model"),
)

Sink = Callable[[str, str, bytes], None]
"""(order, task path, encoded entry): where transcripts are appended as they come."""


class Agents:
    """What both tools share."""

    def __init__(
        self,
        workspaces: Workspaces,
        registry: Registry,
        *,
        sink: Sink,
        recall: Recall = lambda _order, _path: [],
        redact: Callable[[str], str],
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.workspaces = workspaces
        self._registry = registry
        self._sink = sink
        self._redact = redact
        self._history = History(recall, redact)
        self._env = env
        self._trees: dict[tuple[str, str], dict[str, bytes]] = {}

    async def work(
        self,
        ctx: ToolContext,
        prompt: Callable[[dict[str, bytes]], asked.Asked],
        *,
        command: str | None,
        model: str | None,
        max_turns: int | None,
    ) -> JsonObject:
        agent = self._registry.create(ctx.order.agent)
        async with self.workspaces.own(ctx) as workspace:
            tree = await self._base_files(workspace)
            said = prompt(tree)
            request = Request(
                prompt=said.prompt,
                command=command,
                command_call=_iteration(ctx),
                model=model or (said.command.model if said.command else None),
                max_turns=max_turns,
                timeout_s=ctx.order.agent_timeout_s or ctx.timeout_s,
                instructions=instructions.gather(tree),
            )

            async def look() -> JsonObject | None:
                return await _committed(workspace, ctx.key)

            async def do() -> JsonObject:
                return await self._run(ctx, agent, workspace, request, tree)

            return await ctx.once(
                f"{ctx.key}:commit",
                what="let the agent work and commit",
                intent={"parent": workspace.head_sha, "agent": agent.name},
                look=look,
                do=do,
            )

    async def _run(
        self,
        ctx: ToolContext,
        agent: Agent,
        workspace: Workspace,
        request: Request,
        tree: dict[str, bytes],
    ) -> JsonObject:
        parent = workspace.head_sha
        await workspace.reset()
        workspace.spoiled = True
        name, begun_ms = command_name(request), ctx.now_ms()
        ctx.log("agent_command_started", command_name=name, agent=agent.name)
        try:
            first = await self._remembering(ctx, workspace, request, files_kept=False)
            turn = await self._turn(ctx, agent, workspace, first, None)
            turn = await self._deliver(ctx, agent, workspace, request, tree, turn)
            sha = await self._commit(ctx, workspace, agent, parent, None)
            while ctx.prompts():
                # They came while the commit was made; what they change joins it.
                turn = await self._deliver(ctx, agent, workspace, request, tree, turn)
                sha = await self._commit(ctx, workspace, agent, parent, sha)
            if sha is None and not turn.text and not turn.saw_end:
                silent = AgentError(kind="no_output", message="it said and changed nothing")
                raise meaning(silent, ctx.now_ms())
        except (Failed, Parked):
            await self._keep_changes(ctx, workspace)
            ctx.log("agent_command_failed", level="warning", command_name=name, agent=agent.name)
            raise
        if sha is not None:
            await workspace.advance(sha)
            ctx.log("git_commit_created", git_commit_sha=sha)
        workspace.spoiled = False
        ctx.log(
            "agent_command_completed",
            command_name=name,
            agent=agent.name,
            session_id=turn.session_id,
            git_commit_sha=sha,
            duration_seconds=(ctx.now_ms() - begun_ms) / 1000,
        )
        return await _outputs(workspace, parent, sha, turn)

    async def _deliver(
        self,
        ctx: ToolContext,
        agent: Agent,
        workspace: Workspace,
        request: Request,
        tree: dict[str, bytes],
        turn: Turn,
    ) -> Turn:
        """Give the agent, in its session, what people said while it worked."""
        for _ in range(MAX_TURNS_BY_PROMPT):
            waiting = ctx.prompts()
            if not waiting:
                break
            said = asked.resolve(waiting[0].text, catalogue.load(tree)).prompt
            more = msgspec.structs.replace(request, prompt=said, session_id=turn.session_id)
            more = await self._remembering(ctx, workspace, more, files_kept=True)
            turn = await self._turn(ctx, agent, workspace, more, turn)
            ctx.delivered(waiting[0].prompt_id)
        return turn

    async def _remembering(
        self, ctx: ToolContext, workspace: Workspace, request: Request, *, files_kept: bool
    ) -> Request:
        return await self._history.give(
            ctx.order.order_id,
            transcript_of(ctx),
            workspace.sandbox,
            request,
            files_kept=files_kept,
        )

    async def _turn(
        self,
        ctx: ToolContext,
        agent: Agent,
        workspace: Workspace,
        request: Request,
        before: Turn | None,
    ) -> Turn:
        def keep(entry: Entry) -> None:
            line = transcript.encode(entry, redact=self._redact)
            self._sink(ctx.order.order_id, transcript_of(ctx), line)

        turn = await agent.run(
            request,
            workspace.sandbox,
            transcript=keep,
            env=self._env,
            previous_cost_usd=None if before is None else before.cumulative_cost_usd,
        )
        ctx.spend(turn.usage)
        if turn.error is not None:
            raise meaning(turn.error, ctx.now_ms())
        return turn

    async def _commit(
        self,
        ctx: ToolContext,
        workspace: Workspace,
        agent: Agent,
        parent: str,
        earlier: str | None,
    ) -> str | None:
        """One commit on the parent, also when this task had made an earlier one."""
        message = commit_message.write(
            ctx.order, path=ctx.path, phase=ctx.phase, key=ctx.key, subject=_subject(ctx)
        )
        author, at_ms = f"{agent.name} <{agent.name}@agents.invalid>", ctx.now_ms()
        sha = await workspace.sandbox.commit(message, author=author, at_ms=at_ms)
        if sha is None or earlier is None:
            return sha or earlier
        tree = await workspace.mirror.tree_of(sha)
        return await workspace.mirror.commit_tree(
            tree, [parent], message, author=author, at_ms=at_ms
        )

    async def _keep_changes(self, ctx: ToolContext, workspace: Workspace) -> None:
        """What a failed attempt left is evidence: kept in the mirror, not on the branch."""
        try:
            ctx.keep({"kept_sha": await workspace.sandbox.snapshot(_label(ctx))})
        except Failed as error:
            ctx.log("evidence_not_kept", level="warning", error=str(error))

    async def _base_files(self, workspace: Workspace) -> dict[str, bytes]:
        at = (workspace.mirror.key, workspace.base_sha)
        if at not in self._trees:
            if len(self._trees) > 64:
                self._trees.clear()
            self._trees[at] = await base_files(workspace.mirror, workspace.base_sha)
        return self._trees[at]


class AgentCommand:
    info = ToolInfo(
        name="agent.command",
        summary="Let the agent run a command of .claude/commands, or a built-in one, and commit",
        inputs=fields(
            ("command",),
            command=text("The command's name: plan, build, test, or the repository's own"),
            arguments=texts("Arguments of the command"),
            **_SHARED,
        ),
        outputs=_OUTPUTS,
        takes_prompts=True,
        timeout_s=300.0,
    )

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        command: str,
        arguments: list[str] | None = None,
        feedback: str = "",
        model: str | None = None,
        max_turns: int | None = None,
    ) -> JsonObject:
        def prompt(tree: dict[str, bytes]) -> asked.Asked:
            found = catalogue.load(tree).get(command)
            text = expansion.expand(found, arguments or [], context=_context(ctx, feedback))
            return asked.Asked(prompt=text, command=found)

        return await self._agents.work(
            ctx, prompt, command=command, model=model, max_turns=max_turns
        )


class AgentPrompt:
    info = ToolInfo(
        name="agent.prompt",
        summary="Give the agent a prompt and commit what it changed",
        inputs=fields(("prompt",), prompt=text("What to do"), **_SHARED),
        outputs=_OUTPUTS,
        takes_prompts=True,
        timeout_s=300.0,
    )

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        prompt: str,
        feedback: str = "",
        model: str | None = None,
        max_turns: int | None = None,
    ) -> JsonObject:
        def written(tree: dict[str, bytes]) -> asked.Asked:
            said = asked.resolve(prompt, catalogue.load(tree))
            if not feedback:
                return said
            whole = f"{said.prompt}\n{asked.embed(feedback, 'feedback')}"
            return msgspec.structs.replace(said, prompt=whole)

        return await self._agents.work(ctx, written, command=None, model=model, max_turns=max_turns)


def _context(ctx: ToolContext, feedback: str) -> list[expansion.Context]:
    issue = ctx.order.github_issue_number
    return [
        expansion.Context(source="request", text=ctx.order.prompt),
        expansion.Context(source="issue", text=f"Issue #{issue}" if issue else ""),
        expansion.Context(source="feedback", text=feedback),
    ]


def transcript_of(ctx: ToolContext) -> str:
    """The task's name among the order's transcripts; a child workflow's has its run before it."""
    _, _, child = ctx.run_id.partition("/")
    return f"{child}/{ctx.path}" if child else ctx.path


def command_name(request: Request) -> str:
    return f"/{request.command}" if request.command else "prompt"


def _subject(ctx: ToolContext) -> str:
    what = ctx.order.title or ctx.order.prompt
    return f"{ctx.path}: {commit_message.one_line(what)}" if what else ctx.path


def _label(ctx: ToolContext) -> str:
    """A name for what a failed attempt left; paths may be longer than a reference's part."""
    digest = hashlib.sha256(ctx.key.encode()).hexdigest()[:16]
    return f"failed-{digest}-{ctx.attempt}"


def _iteration(ctx: ToolContext) -> int:
    """Which iteration this is, for scripts that answer differently the second time."""
    indexes = [int(part.split("]")[0]) for part in ctx.path.split("[")[1:]]
    return indexes[-1] if indexes else 1


async def _committed(workspace: Workspace, key: str) -> JsonObject | None:
    """The task's commit, if it is on the order's branch."""
    if workspace.head_sha == workspace.base_sha:
        return None
    log = await workspace.mirror.log(workspace.base_sha, workspace.head_sha)
    for commit in log:
        if commit.trailers.get(commit_message.KEY) == key:
            turn = Turn(ok=True, text="(found on the branch after a restart)")
            return await _outputs(workspace, commit.parents[0], commit.sha, turn)
    return None


async def _outputs(workspace: Workspace, parent: str, sha: str | None, turn: Turn) -> JsonObject:
    files = 0
    if sha is not None:
        files = (await workspace.mirror.diff_stat(parent, sha)).files_changed
    return {
        "text": turn.text[:TEXT_LIMIT],
        "session_id": turn.session_id,
        "commit": sha,
        "changed": sha is not None,
        "no_changes": sha is None,
        "files_changed": files,
        "scripted": turn.scripted,
    }
