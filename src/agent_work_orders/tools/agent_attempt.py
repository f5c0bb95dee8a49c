"""One attempt of an agent at a task: take up the work, let it turn, commit, count.

An attempt that follows an interrupted one of the same task (the model was away, the agent crashed
or ran out of time, the server was killed) goes on with the files as they were left, in the agent's
own session if it is still there, else with our record of what was said. After an answer that says
the work itself is bad (`START_OVER`) the next attempt starts from the order's head with a clean
tree. Whatever happens, what was used is counted.

When the agent is done, that is written down, and committing begins: a step of its own, with time
of its own. If it is cut off, or fails for a reason that passes, the next attempt commits what is
there; the agent does not work, and is not paid, a second time.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from agent_work_orders.agent_executor import transcript
from agent_work_orders.agent_executor.agent import Agent, AgentError, AgentRequest, Entry, Turn
from agent_work_orders.command_loader import catalogue, typed_prompt
from agent_work_orders.errors import Failed, Held, Permanent
from agent_work_orders.tools import agent_answer, agent_earlier, commit_message
from agent_work_orders.tools.agent_earlier import Earlier
from agent_work_orders.tools.agent_failure import Waits, meaning
from agent_work_orders.tools.agent_history import History, Recall
from agent_work_orders.tools.tool import COMMIT_S, JsonObject, Stall, ToolContext
from agent_work_orders.tools.workspaces import Workspace, work_of
from agent_work_orders.workflow_engine.events import Usage

TEXT_LIMIT = 8_000
# A person who keeps talking must not keep one task open for ever.
MAX_TURNS_BY_PROMPT = 50

# The agent itself called its work a failure, or cannot be understood: more of the same is no help.
START_OVER = frozenset(
    {"agent_answer_invalid", "agent_failed", "agent_protocol_error", "agent_request_invalid"}
)

GO_ON = (
    "Your work on this task was interrupted; it was not your fault. The files are as you left "
    "them. Go on from there and finish the task, without repeating what is done."
)

Sink = Callable[[str, str, bytes], None]
"""(order, task path, encoded entry): where transcripts are appended as they come."""


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What all attempts share."""

    sink: Sink
    recall: Recall
    redact: Callable[[str], str]
    env: Mapping[str, str] | None
    waits: Waits


class Attempt:
    def __init__(
        self,
        ctx: ToolContext,
        agent: Agent,
        workspace: Workspace,
        request: AgentRequest,
        means: Means,
        tree: dict[str, bytes],
        schema: JsonObject | None = None,
    ) -> None:
        """`schema`: of the answer that the task asks for."""
        self._ctx = ctx
        self._agent = agent
        self._workspace = workspace
        self._request = request
        self._means = means
        self._tree = tree
        self._schema = schema
        self._answer: Any = None
        self._used = Usage()
        """By the turns of this attempt that have ended."""
        self._marked = False
        """The transcript has marks that must not be read as unfinished work."""
        self._committing = False

    async def run(self) -> JsonObject:
        ctx, workspace, agent = self._ctx, self._workspace, self._agent
        parent = workspace.head_sha
        earlier = await self._earlier()
        continues = await workspace.take_up(work_of(ctx), lambda: self._begin_anew(earlier))
        name, begun_ms = command_name(self._request), ctx.now_ms()
        ctx.log("agent_command_started", command_name=name, agent=agent.name, continues=continues)
        try:
            turn = await self._deliver(await self._first_turn(earlier, continues))
            turn = await self._answered(turn)
            sha = await self._commit(turn, parent, None)
            while ctx.prompts():
                # They came while the commit was made; what they change joins it.
                turn = await self._answered(await self._deliver(turn))
                sha = await self._commit(turn, parent, sha)
            if sha is None and not turn.text and not turn.saw_end:
                silent = AgentError(kind="no_output", message="it said and changed nothing")
                raise meaning(silent, ctx.now_ms())
        except (Failed, Held) as ended:
            await self._interrupted(ended)
            ctx.log("agent_command_failed", level="warning", command_name=name, agent=agent.name)
            raise
        if sha is not None:
            await workspace.advance(sha)
            ctx.log("git_commit_created", git_commit_sha=sha)
        await self.over()
        ctx.log(
            "agent_command_completed",
            command_name=name,
            agent=agent.name,
            session_id=turn.session_id,
            git_commit_sha=sha,
            duration_seconds=(ctx.now_ms() - begun_ms) / 1000,
        )
        made = await outputs(workspace, parent, sha, turn)
        return {**made, "answer": self._answer, "left_out": workspace.left_out.words()}

    async def _earlier(self) -> Earlier:
        entries = await asyncio.to_thread(
            self._means.recall, self._ctx.order.order_id, transcript_of(self._ctx)
        )
        return agent_earlier.read(entries)

    def _begin_anew(self, earlier: Earlier) -> None:
        """The files of earlier attempts are gone. Whoever takes these up after us must not believe
        that they are what the agent had made."""
        if earlier.ended is not None or earlier.session_id is not None:
            self._write(agent_earlier.over())

    async def _first_turn(self, earlier: Earlier, continues: bool) -> Turn:
        """Of this attempt, or of an earlier one whose work was not committed. Lost attempts are
        counted."""
        ctx = self._ctx
        self._marked = earlier.session_id is not None
        for attempt in ctx.lost:
            ctx.recover(attempt, earlier.used.get(attempt, Usage()))
        if continues and earlier.ended is not None:
            ctx.log("agent_work_found", session_id=earlier.ended.session_id)
            return earlier.ended.turn()
        request = await self._remembering(self._request, files_kept=continues)
        opening = [prompt for prompt in ctx.prompts() if prompt.opening]
        more = "".join(f"\n\n{self._resolved(prompt.text)}" for prompt in opening)
        request = msgspec.structs.replace(request, prompt=request.prompt + more)
        if not continues or earlier.session_id is None:
            turn = await self._turn(request, None)
        else:
            request = msgspec.structs.replace(
                request, session_id=earlier.session_id, go_on=GO_ON + more
            )
            turn = await self._turn(request, earlier.session_cost_usd)
        for prompt in opening:
            ctx.delivered(prompt.prompt_id)
        return turn

    def _resolved(self, text: str) -> str:
        return typed_prompt.resolve(text, catalogue.load(self._tree)).prompt

    async def _deliver(self, turn: Turn) -> Turn:
        """Give the agent, in its session, what people said while it worked."""
        for _ in range(MAX_TURNS_BY_PROMPT):
            waiting = self._ctx.prompts()
            if not waiting:
                break
            said = self._resolved(waiting[0].text)
            more = msgspec.structs.replace(self._request, prompt=said, session_id=turn.session_id)
            more = await self._remembering(more, files_kept=True)
            turn = await self._turn(more, turn.cumulative_cost_usd)
            self._ctx.delivered(waiting[0].prompt_id)
        return turn

    async def _answered(self, turn: Turn) -> Turn:
        """With an answer in the form that was asked for."""
        if self._schema is None:
            return turn
        for repairs in range(agent_answer.MOST_REPAIRS + 1):
            try:
                self._answer = agent_answer.read(turn.text, self._schema)
                return turn
            except agent_answer.NoAnswer as problem:
                if repairs == agent_answer.MOST_REPAIRS:
                    raise Permanent(
                        "agent_answer_invalid",
                        f"The agent's answer does not have the form of `schema`: {problem}",
                        hint="Describe the fields in `schema`, or ask for less, and retry.",
                    ) from None
                said = agent_answer.again(str(problem))
            more = msgspec.structs.replace(self._request, prompt=said, session_id=turn.session_id)
            more = await self._remembering(more, files_kept=True)
            turn = await self._turn(more, turn.cumulative_cost_usd)
        return turn

    async def _remembering(self, request: AgentRequest, *, files_kept: bool) -> AgentRequest:
        history = History(self._means.recall, self._means.redact)
        return await history.give(
            self._ctx.order.order_id,
            transcript_of(self._ctx),
            self._workspace.sandbox,
            request,
            files_kept=files_kept,
        )

    async def _turn(self, request: AgentRequest, previous_cost_usd: float | None) -> Turn:
        ctx = self._ctx
        metered = Usage()

        def keep(entry: Entry) -> None:
            nonlocal metered
            if agent_earlier.is_mark(entry):
                entry, metered = agent_earlier.mark(entry, ctx.attempt, self._used)
                self._marked = True
            self._write(entry)

        try:
            turn = await self._agent.run(
                request,
                self._workspace.sandbox,
                transcript=keep,
                env=self._means.env,
                previous_cost_usd=previous_cost_usd,
            )
            metered = turn.usage
        finally:
            # Also when it was cancelled or could not be understood.
            ctx.spend(metered)
            self._used = self._used.plus(metered)
        ctx.denied(turn.denials)
        if turn.error is not None:
            # Something moved, so the outage is a new one; the waits grow all the same.
            stall = Stall(count=ctx.stall.count) if turn.usage.turns else ctx.stall
            raise meaning(turn.error, ctx.now_ms(), waits=self._means.waits, stall=stall)
        return turn

    def _write(self, entry: Entry) -> None:
        line = transcript.encode(entry, redact=self._means.redact)
        self._means.sink(self._ctx.order.order_id, transcript_of(self._ctx), line)

    async def _commit(self, turn: Turn, parent: str, earlier: str | None) -> str | None:
        """One commit on the parent, also when this task had made an earlier one."""
        ctx, workspace = self._ctx, self._workspace
        limit = TEXT_LIMIT if self._schema is None else agent_answer.ANSWER_LIMIT
        self._write(agent_earlier.ended(turn, limit))
        self._marked = self._committing = True
        ctx.allow(COMMIT_S)
        message = commit_message.write(
            ctx.order, path=ctx.path, phase=ctx.phase, key=ctx.key, subject=_subject(ctx)
        )
        author, at_ms = f"{self._agent.name} <{self._agent.name}@agents.invalid>", ctx.now_ms()
        sha = await workspace.commit(ctx, message, author=author, at_ms=at_ms)
        if sha is None or earlier is None:
            return sha or earlier
        tree = await workspace.mirror.tree_of(sha)
        return await workspace.mirror.commit_tree(
            tree, [parent], message, author=author, at_ms=at_ms
        )

    async def _interrupted(self, ended: Failed | Held) -> None:
        """What was left is kept in the mirror, not on the branch: to go on with, or as evidence."""
        ctx, workspace = self._ctx, self._workspace
        if self._committing and isinstance(ended, Permanent):
            # More of the same would fail again: the agent has to change it.
            self._write(agent_earlier.not_ended())
        try:
            if isinstance(ended, Failed):
                ctx.keep({"kept_sha": await workspace.sandbox.snapshot(_label(ctx))})
            if isinstance(ended, Failed) and ended.code in START_OVER:
                await self.over()
                workspace.spoiled = True
            else:
                await workspace.set_aside(work_of(ctx))
        except Failed as error:
            ctx.log("evidence_not_kept", level="warning", error=str(error))

    async def found(self) -> Any:
        """An earlier attempt had committed, and was cut off before it could say so: its answer."""
        answer = None
        if self._schema is not None:
            entries = await asyncio.to_thread(
                self._means.recall, self._ctx.order.order_id, transcript_of(self._ctx)
            )
            try:
                answer = agent_answer.read(agent_earlier.last_words(entries), self._schema)
            except agent_answer.NoAnswer:
                raise Permanent(
                    "agent_answer_lost",
                    "The agent's commit is there, but its answer was lost with the server",
                    hint="Start the order anew; its commit stays on this order's branch.",
                ) from None
        self._marked = True
        await self.over()
        return answer

    async def over(self) -> None:
        """The work is done or given up: nobody goes on with it."""
        if self._marked:
            self._write(agent_earlier.over())
        await self._workspace.release(work_of(self._ctx))


def transcript_of(ctx: ToolContext) -> str:
    """The task's name among the order's transcripts; a child workflow's has its run before it."""
    _, _, child = ctx.run_id.partition("/")
    return f"{child}/{ctx.path}" if child else ctx.path


def command_name(request: AgentRequest) -> str:
    return f"/{request.command}" if request.command else "prompt"


def _subject(ctx: ToolContext) -> str:
    what = ctx.order.title or ctx.order.prompt
    return f"{ctx.path}: {commit_message.one_line(what)}" if what else ctx.path


def _label(ctx: ToolContext) -> str:
    """A name for what a failed attempt left; paths may be longer than a reference's part."""
    digest = hashlib.sha256(ctx.key.encode()).hexdigest()[:16]
    return f"failed-{digest}-{ctx.attempt}"


async def committed(workspace: Workspace, key: str) -> JsonObject | None:
    """The task's commit, if it is on the order's branch."""
    if workspace.head_sha == workspace.base_sha:
        return None
    log = await workspace.mirror.log(workspace.base_sha, workspace.head_sha)
    for commit in log:
        if commit.trailers.get(commit_message.KEY) == key:
            turn = Turn(ok=True, text="(found on the branch after a restart)")
            return await outputs(workspace, commit.parents[0], commit.sha, turn)
    return None


async def outputs(workspace: Workspace, parent: str, sha: str | None, turn: Turn) -> JsonObject:
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
        "answer": None,
        "left_out": [],
    }
