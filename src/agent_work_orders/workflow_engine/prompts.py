"""What people say to the agents of a run while it is under way.

A prompt belongs to the agent at work, or to the next one. One that its agent did not get (the
attempt ended, was given up or forgotten) waits for the next agent again.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from agent_work_orders.workflow_engine.effects import DeliverPrompt
from agent_work_orders.workflow_engine.events import PromptReceived, RetryAsked
from agent_work_orders.workflow_engine.run import ROOT, Prompt
from agent_work_orders.workflow_engine.work import Work

# People write prompts; past this somebody else does.
MAX_PROMPTS = 1_000


def received(work: Work, event: PromptReceived) -> bool:
    prompts = work.run.prompts
    known = any(prompt.prompt_id == event.prompt_id for prompt in prompts)
    if work.run.stage != "active" or known or len(prompts) >= MAX_PROMPTS:
        return False
    listening = (
        path
        for path, task in work.run.tasks.items()
        if task.live and path != ROOT and work.run.spec(path).takes_prompts
    )
    target = min(listening, default=None)
    prompt = Prompt(
        prompt_id=event.prompt_id, text=event.text, by=event.by, at_ms=event.at_ms, target=target
    )
    work.set(prompts=(*prompts, prompt))
    if target is not None:
        work.emit(DeliverPrompt(path=target, prompt_id=event.prompt_id))
    return True


def said_with_retry(work: Work, event: RetryAsked) -> None:
    """For the next agent that begins, as a part of what it is asked."""
    prompts: tuple[Prompt, ...] = work.get("prompts")
    known = any(prompt.prompt_id == event.prompt_id for prompt in prompts)
    if not event.prompt_id or known or len(prompts) >= MAX_PROMPTS:
        return
    prompt = Prompt(
        prompt_id=event.prompt_id, text=event.text, by=event.by, at_ms=event.at_ms, opening=True
    )
    work.set(prompts=(*prompts, prompt))


def address(work: Work, path: str) -> None:
    """What people said while no agent was at work waits for the next one: this one."""
    prompts: tuple[Prompt, ...] = work.get("prompts")
    if any(prompt.target is None and not prompt.delivered for prompt in prompts):
        work.set(prompts=tuple(prompt.addressed(path) for prompt in prompts))


def answered(work: Work, path: str, prompt_ids: tuple[str, ...]) -> None:
    """Mark what the agent got; what it did not get waits for the next agent."""
    prompts: tuple[Prompt, ...] = work.get("prompts")
    if prompts and prompt_ids:
        got = frozenset(prompt_ids)
        work.set(
            prompts=tuple(
                replace(prompt, delivered=True) if prompt.prompt_id in got else prompt
                for prompt in prompts
            )
        )
    withdraw(work, (path,))


def withdraw(work: Work, paths: Collection[str]) -> None:
    """The agents of these tasks will not get what is still addressed to them."""
    prompts: tuple[Prompt, ...] = work.get("prompts")
    if any(prompt.target in paths and not prompt.delivered for prompt in prompts):
        work.set(
            prompts=tuple(
                replace(prompt, target=None)
                if prompt.target in paths and not prompt.delivered
                else prompt
                for prompt in prompts
            )
        )
