"""`agent.command` and `agent.prompt`: let an agent work, and commit what it changed.

One task makes at most one commit, whatever the agent did and however often it was started: the
order's head moves once, to a commit that carries the task's key, and a task whose commit is
already there is not run again. How an attempt goes, and what of an interrupted one the next goes on
with, is in agent_attempt.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from agent_work_orders.agent_executor.agent import AgentRequest
from agent_work_orders.agent_executor.registry import Registry
from agent_work_orders.command_loader import catalogue, expansion, instructions, typed_prompt
from agent_work_orders.errors import Permanent
from agent_work_orders.tools import agent_answer
from agent_work_orders.tools.agent_attempt import Attempt, Means, Sink, committed
from agent_work_orders.tools.agent_failure import Waits
from agent_work_orders.tools.agent_history import Recall
from agent_work_orders.tools.base_files import base_files
from agent_work_orders.tools.schema import (
    anything,
    anything_by_name,
    fields,
    flag,
    integer,
    nullable,
    text,
    texts,
)
from agent_work_orders.tools.tool import JsonObject, Order, ToolContext
from agent_work_orders.tools.workspaces import LEFT_OUT, Workspace, Workspaces
from agent_work_orders.workflow_engine import written_schema
from agent_work_orders.workflow_engine.catalogue import ToolInfo

_SHARED: dict[str, Any] = {
    "feedback": text("What went wrong last time: given to the agent as data"),
    "model": text("The agent's model; the agent's own default when absent"),
    "max_turns": integer("At most so many turns of the model", minimum=1),
    "schema": anything_by_name(
        "A JSON Schema: the agent ends with a value that fits, which is the output `answer`"
    ),
}
_OUTPUTS = fields(
    text=text("What the agent said at the end"),
    session_id=nullable(text("The agent's session, for resuming it")),
    commit=nullable(text("The commit that the task made")),
    changed=flag("Whether any file changed"),
    no_changes=flag("Whether no file changed"),
    files_changed=integer("How many files changed"),
    left_out=texts(LEFT_OUT),
    scripted=flag("Whether the agent followed a script instead of a model"),
    answer=anything("What it answered in the form of `schema`; null without one"),
)
_SHAPED = {"answer": "schema"}
_SCHEMA_HINT = "docs/workflows.md lists what a schema may use; create the order again with another."


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
        waits: Waits | None = None,
        idle_s: float | None = None,
        may_deliver: Callable[[Order], Awaitable[None]] | None = None,
    ) -> None:
        """`idle_s`: an agent that says nothing for so long is ended; None: it may be silent.
        `may_deliver` raises where what an agent would make could not be pushed."""
        self._may_deliver = may_deliver
        self.workspaces = workspaces
        self._idle_s = idle_s
        self._registry = registry
        self._means = Means(
            sink=sink, recall=recall, redact=redact, env=env, waits=waits or Waits()
        )
        self._trees: dict[tuple[str, str], dict[str, bytes]] = {}

    async def work(
        self,
        ctx: ToolContext,
        prompt: Callable[[dict[str, bytes]], typed_prompt.TypedPrompt],
        *,
        command: str | None,
        model: str | None,
        max_turns: int | None,
        schema: JsonObject | None = None,
    ) -> JsonObject:
        checked_schema(schema)
        agent = self._registry.create(ctx.order.agent)
        if self._may_deliver is not None:
            await self._may_deliver(ctx.order)
        async with self.workspaces.own(ctx) as workspace:
            tree = await self._base_files(workspace)
            said = prompt(tree)
            request = AgentRequest(
                prompt=said.prompt + ("" if schema is None else agent_answer.wanted(schema)),
                command=command,
                command_call=_iteration(ctx),
                model=model or (said.command.model if said.command else None),
                max_turns=max_turns,
                timeout_s=ctx.order.agent_timeout_s or ctx.timeout_s,
                idle_s=self._idle_s,
                instructions=instructions.gather(tree),
            )

            attempt = Attempt(ctx, agent, workspace, request, self._means, tree, schema)

            async def look() -> JsonObject | None:
                found = await committed(workspace, ctx.key)
                return None if found is None else found | {"answer": await attempt.found()}

            async def do() -> JsonObject:
                return await attempt.run()

            return await ctx.once(
                f"{ctx.key}:commit",
                what="let the agent work and commit",
                intent={"parent": workspace.head_sha, "agent": agent.name},
                look=look,
                do=do,
            )

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
        shaped=_SHAPED,
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
        schema: JsonObject | None = None,
    ) -> JsonObject:
        def prompt(tree: dict[str, bytes]) -> typed_prompt.TypedPrompt:
            found = catalogue.load(tree).get(command)
            text = expansion.expand(found, arguments or [], context=_context(ctx, feedback))
            return typed_prompt.TypedPrompt(prompt=text, command=found)

        return await self._agents.work(
            ctx, prompt, command=command, model=model, max_turns=max_turns, schema=schema
        )


class AgentPrompt:
    info = ToolInfo(
        name="agent.prompt",
        summary="Give the agent a prompt and commit what it changed",
        inputs=fields(("prompt",), prompt=text("What to do"), **_SHARED),
        outputs=_OUTPUTS,
        takes_prompts=True,
        timeout_s=300.0,
        shaped=_SHAPED,
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
        schema: JsonObject | None = None,
    ) -> JsonObject:
        def written(tree: dict[str, bytes]) -> typed_prompt.TypedPrompt:
            said = typed_prompt.resolve(prompt, catalogue.load(tree))
            if not feedback:
                return said
            whole = f"{said.prompt}\n{typed_prompt.embed(feedback, 'feedback')}"
            return msgspec.structs.replace(said, prompt=whole)

        return await self._agents.work(
            ctx, written, command=None, model=model, max_turns=max_turns, schema=schema
        )


def checked_schema(schema: JsonObject | None) -> None:
    """Permanent `schema_invalid`: it came out of a template, or lint would have told."""
    wrong = None if schema is None else written_schema.not_understood(schema)
    if wrong is not None:
        where = ".".join(str(step) for step in ("schema", *wrong[0]))
        raise Permanent("schema_invalid", f"{where}: {wrong[1]}", hint=wrong[2] or _SCHEMA_HINT)


def _context(ctx: ToolContext, feedback: str) -> list[expansion.Context]:
    issue = ctx.order.github_issue_number
    return [
        expansion.Context(source="request", text=ctx.order.prompt),
        expansion.Context(source="issue", text=f"Issue #{issue}" if issue else ""),
        expansion.Context(source="feedback", text=feedback),
    ]


def _iteration(ctx: ToolContext) -> int:
    """Which iteration this is, for scripts that answer differently the second time."""
    indexes = [int(part.split("]")[0]) for part in ctx.path.split("[")[1:]]
    return indexes[-1] if indexes else 1
