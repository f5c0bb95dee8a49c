"""What every agent must do, whoever is behind it.

A test module subclasses `AgentConformance` and gives a `rig` fixture. The rig makes an agent do a
*deed*; the suite checks what the contract promises about the turn, the workspace, the transcript
and the processes.
"""

from __future__ import annotations

import asyncio
from typing import Literal, Protocol

import msgspec

from agent_work_orders.agent_executor.agent import (
    TEXT_LIMIT_CHARS,
    Agent,
    AgentRequest,
    Entry,
    Turn,
)
from agent_work_orders.agent_executor.transcript import TURN_LIMIT_BYTES, decode, encode
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.sandbox_manager.sandbox import Sandbox

Deed = Literal["edit", "fail", "hang", "flood"]

EDITED = b"made by the agent\n"
"""`edit` writes this to `made.txt` and says `Made it.`; `fail` does too, then ends badly."""
BEAT = "while :; do echo x >> beat; sleep 0.05; done"
"""`hang` runs this in a shell: as long as it lives, `beat` grows."""
FLOOD_BYTES = 20_000_000
"""`flood` prints at least this much, where the agent lets a program print."""


class Rig(Protocol):
    sandbox: Sandbox
    resumes: bool
    """Whether a second turn with the first one's session id goes on with that session."""
    starts_within_s: float
    """Long enough for the agent to reach its deed on a busy machine; limits are set to this."""

    def agent(self, deed: Deed) -> Agent: ...

    def remembers(self, text: str) -> bool:
        """Whether the last turn was given this text of an earlier turn."""
        ...


class AgentConformance:
    async def test_a_turn_changes_files_and_ends_well(self, rig: Rig) -> None:
        turn, entries = await _run(rig, "edit")
        assert turn.ok and turn.error is None, turn
        assert "Made it." in turn.text
        assert await rig.sandbox.read_file("made.txt") == EDITED
        assert entries[0] == Entry(kind="prompt", text="do it")
        assert turn.scripted is rig.agent("edit").scripted

    async def test_it_can_run_here(self, rig: Rig) -> None:
        assert rig.agent("edit").check() is None

    async def test_a_failed_turn_is_a_value_and_keeps_the_edits(self, rig: Rig) -> None:
        turn, entries = await _run(rig, "fail")
        assert not turn.ok
        assert turn.error is not None and turn.error.message
        assert await rig.sandbox.read_file("made.txt") == EDITED
        assert any(entry.kind == "error" for entry in entries)

    async def test_a_turn_that_never_ends_is_ended(self, rig: Rig) -> None:
        turn, _ = await _run(rig, "hang", timeout_s=rig.starts_within_s)
        assert turn.error is not None and turn.error.kind == "timeout", turn
        assert await _is_still(rig.sandbox)

    async def test_a_silent_turn_is_idle_before_it_is_late(self, rig: Rig) -> None:
        turn, _ = await _run(rig, "hang", timeout_s=60.0, idle_s=rig.starts_within_s)
        assert turn.error is not None and turn.error.kind == "idle", turn
        assert await _is_still(rig.sandbox)

    async def test_cancelling_ends_everything_it_started(self, rig: Rig) -> None:
        running = asyncio.create_task(_run(rig, "hang", timeout_s=60.0))
        while not await _beats(rig.sandbox):
            await asyncio.sleep(0.05)
            assert not running.done(), running
        running.cancel()
        await asyncio.wait({running})
        assert running.cancelled()
        assert await _is_still(rig.sandbox)

    async def test_much_output_costs_a_bounded_transcript(self, rig: Rig) -> None:
        turn, entries = await _run(rig, "flood", timeout_s=100.0)
        assert turn.ok, turn
        assert sum(len(entry.text) for entry in entries) <= 2 * TURN_LIMIT_BYTES
        assert len(turn.text) <= TEXT_LIMIT_CHARS

    async def test_a_second_turn_goes_on_with_the_session(self, rig: Rig) -> None:
        if not rig.resumes:
            return
        first, _ = await _run(rig, "edit", prompt="the word is lighthouse")
        second, _ = await _run(rig, "edit", session_id=first.session_id)
        assert second.ok and second.session_id == first.session_id
        assert rig.remembers("the word is lighthouse")

    async def test_what_was_said_can_be_kept(self, rig: Rig) -> None:
        turn, entries = await _run(rig, "edit")
        kept = decode(b"".join(encode(entry) for entry in entries))
        assert kept.damaged == 0 and len(kept.entries) == len(entries)
        assert msgspec.json.decode(msgspec.json.encode(turn), type=Turn) == turn


async def _run(
    rig: Rig,
    deed: Deed,
    *,
    prompt: str = "do it",
    timeout_s: float = 60.0,
    idle_s: float | None = None,
    session_id: str | None = None,
) -> tuple[Turn, list[Entry]]:
    entries: list[Entry] = []
    request = AgentRequest(
        prompt=prompt,
        command=deed,
        timeout_s=timeout_s,
        idle_s=idle_s,
        session_id=session_id,
    )
    turn = await rig.agent(deed).run(request, rig.sandbox, transcript=entries.append)
    return turn, entries


async def _beats(sandbox: Sandbox) -> int:
    try:
        return len(await sandbox.read_file("beat"))
    except AgentWorkOrdersError:
        return 0


async def _is_still(sandbox: Sandbox) -> bool:
    """It ran, and it does not run any more."""
    before = await _beats(sandbox)
    await asyncio.sleep(0.3)
    return before > 0 and await _beats(sandbox) == before
