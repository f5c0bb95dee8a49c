"""Any program as an agent: how the prompt gets in, what comes out, how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.agent_executor.agent import AgentRequest, Entry, Turn
from agent_work_orders.agent_executor.command import CommandAgent, Options
from agent_work_orders.agent_executor.command_output import CANDIDATE_LIMIT, Reader
from agent_work_orders.errors import Environmental, Refused
from agent_work_orders.testing.fakes.local_sandbox import LocalSandbox

HOSTILE = "'; touch pwned; echo $(touch pwned) `touch pwned` {prompt_file} {prompt} \"\n-rf"


async def run(
    folder: Path, *argv: str, prompt: str = HOSTILE, **more: Any
) -> tuple[Turn, list[Entry], LocalSandbox]:
    sandbox = LocalSandbox(folder)
    entries: list[Entry] = []
    options = Options(argv=argv, first_output_s=more.pop("first_output_s", None))
    turn = await CommandAgent(options).run(
        AgentRequest(prompt=prompt, **more), sandbox, transcript=entries.append
    )
    return turn, entries, sandbox


async def test_the_prompt_comes_by_stdin(tmp_path: Path) -> None:
    turn, _, _ = await run(tmp_path, "cat")
    assert turn.ok and turn.text == HOSTILE


async def test_the_prompt_comes_as_an_argument_and_never_as_shell(tmp_path: Path) -> None:
    turn, _, sandbox = await run(tmp_path, "printf", "%s", "--task={prompt}")
    assert turn.text == "--task=" + HOSTILE
    assert list(sandbox.workspace.iterdir()) == []


async def test_the_prompt_comes_in_a_private_file(tmp_path: Path) -> None:
    turn, _, sandbox = await run(tmp_path, "cat", "{prompt_file}", instructions="Use tabs.")
    assert turn.text == f"Use tabs.\n\n{HOSTILE}"
    assert list(sandbox.workspace.iterdir()) == []


@pytest.mark.parametrize("prompt", ["x" * 200_000, "a\0b"])
async def test_a_prompt_that_cannot_be_an_argument_is_said_so(tmp_path: Path, prompt: str) -> None:
    turn, _, _ = await run(tmp_path, "echo", "{prompt}", prompt=prompt)
    assert turn.error is not None and turn.error.kind == "invalid_request"
    assert (await run(tmp_path, "cat", "{prompt_file}", prompt=prompt))[0].ok


@pytest.mark.fault("G15")
async def test_a_program_that_does_not_read_its_input_is_fine(tmp_path: Path) -> None:
    turn, _, _ = await run(tmp_path, "sh", "-c", "exec 0<&-; echo ok", prompt="x" * 5_000_000)
    assert turn.ok and turn.text == "ok"
    turn, _, _ = await run(tmp_path, "sh", "-c", "tty; read a; read b; echo end", prompt="one")
    assert turn.ok and turn.text == "not a tty\nend"


@pytest.mark.fault("G11")
@pytest.mark.parametrize(
    ("line", "kind", "code", "signal"),
    [
        ("true", None, None, None),
        ("echo boom >&2; exit 3", "exit_code", 3, None),
        ("kill -9 $$", "crashed", None, 9),
        ("kill -11 $$", "crashed", None, 11),
        ("kill -15 $$", "interrupted", None, 15),
        ("sh -c 'kill -9 $$'; exit $?", "crashed", 137, 9),
        ("sh -c 'kill -15 $$'; exit $?", "interrupted", 143, 15),
    ],
)
async def test_endings(
    tmp_path: Path, line: str, kind: str | None, code: int | None, signal: int | None
) -> None:
    turn, entries, _ = await run(tmp_path, "sh", "-c", line)
    assert turn.ok is (kind is None)
    if turn.error is not None:
        assert (turn.error.kind, turn.error.exit_code, turn.error.signal) == (kind, code, signal)
        assert entries[-1].kind == "error"
    if code == 3:
        assert "boom" in turn.error.message  # type: ignore[union-attr]
        assert Entry(kind="system", text="boom", data={"stream": "stderr"}) in entries


@pytest.mark.fault("G4")
@pytest.mark.fault("G20")
async def test_first_word_idle_and_wall_are_three_limits(tmp_path: Path) -> None:
    sleep = ("sleep", "600")
    turn, _, _ = await run(tmp_path, *sleep, timeout_s=60, first_output_s=0.3)
    assert turn.error is not None and turn.error.kind == "no_output"
    turn, _, _ = await run(tmp_path, "sh", "-c", "echo hi; sleep 600", timeout_s=60, idle_s=0.4)
    assert turn.error is not None and turn.error.kind == "idle"
    turn, _, _ = await run(tmp_path, *sleep, timeout_s=0.5)
    assert turn.error is not None and turn.error.kind == "timeout"
    turn, _, _ = await run(
        tmp_path, "sh", "-c", "sleep 0.4; echo hi; sleep 0.4", idle_s=30, first_output_s=30
    )
    assert turn.ok


async def test_a_missing_program_is_the_environments_fault(tmp_path: Path) -> None:
    with pytest.raises(Environmental) as caught:
        await run(tmp_path, "no-such-program-at-all")
    assert caught.value.code == "agent_missing"


@pytest.mark.fault("N6")
async def test_a_null_in_a_result_says_nothing(tmp_path: Path) -> None:
    fields = ("session_id", "cost_usd", "input_tokens", "output_tokens", "turns", "error")
    line = json.dumps({"type": "result", "text": "Done."} | dict.fromkeys(fields))
    turn, _, _ = await run(tmp_path, "cat", prompt=line)
    assert turn.ok and turn.saw_end and turn.text == "Done."


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ({"error": {"kind": "teapot", "message": "short and stout"}}, "exit_code", "short"),
        ({"error": {"kind": 5}}, "exit_code", '{"kind":5}'),
        ({"error": {"kind": "auth"}}, "auth", "auth"),
        ({"error": {"kind": "server", "message": "503", "retry_at_ms": "soon"}}, "server", "503"),
        ({"error": 5}, "exit_code", "5"),
        ({"error": True}, "exit_code", "true"),
        ({"error": ["a", "b"]}, "exit_code", "a"),
        ({"errors": ["no disk"]}, "exit_code", "no disk"),
        ({"is_error": True, "text": "it went wrong"}, "exit_code", "it went wrong"),
        ({"error": "plain words", "turns": "two"}, "exit_code", "plain words"),
    ],
)
async def test_an_error_of_any_kind_is_no_success(
    tmp_path: Path, said: dict[str, object], kind: str, message: str
) -> None:
    """Also with exit code 0."""
    turn, _, _ = await run(tmp_path, "cat", prompt=json.dumps({"type": "result"} | said))
    assert not turn.ok and turn.error is not None
    assert turn.error.kind == kind and message in turn.error.message


async def test_json_lines_are_understood(tmp_path: Path) -> None:
    lines = [
        {"type": "thinking", "text": "hm"},
        {"type": "tool_use", "name": "Edit", "input": {"path": "x"}},
        {"type": "result", "text": "first"},
        {"type": "unknown", "text": "plain after all"},
        {"type": "result", "text": "Done.", "session_id": "s1", "cost_usd": 0.25, "turns": 2},
        {"type": "result", "cost_usd": "much"},
    ]
    script = "\n".join(["starting", *(json.dumps(line) for line in lines)])
    turn, entries, _ = await run(tmp_path, "cat", prompt=script)
    assert turn.ok and turn.saw_end
    assert (turn.text, turn.session_id, turn.usage.cost_usd, turn.usage.turns) == (
        "Done.",
        "s1",
        0.25,
        2,
    )
    kinds = [entry.kind for entry in entries]
    assert kinds == ["prompt", "text", "thinking", "tool_use", "system", "text", "system", "text"]


@pytest.mark.parametrize(
    ("error", "kind", "retry_at_ms"),
    [
        ("went wrong", "exit_code", None),
        ({"kind": "rate_limit", "message": "later", "retry_at_ms": 123}, "rate_limit", 123),
    ],
)
async def test_a_program_may_report_its_own_failure(
    tmp_path: Path, error: Any, kind: str, retry_at_ms: int | None
) -> None:
    line = json.dumps({"type": "result", "error": error})
    turn, _, _ = await run(tmp_path, "cat", prompt=line)
    assert not turn.ok
    assert turn.error is not None
    assert (turn.error.kind, turn.error.retry_at_ms) == (kind, retry_at_ms)


@pytest.mark.fault("G2")
@given(st.binary(max_size=200), st.integers(1, 50))
def test_plain_output_is_kept_without_loss(content: bytes, size: int) -> None:
    content = content.replace(b"{", b"")
    reader = Reader()
    entries: list[Entry] = []
    for start in range(0, len(content), size):
        entries += reader.feed(content[start : start + size])
    entries += reader.close()
    back = [entry.text.encode(entry.data.get("encoding", "utf-8")) for entry in entries]
    assert b"\n".join(back).replace(b"\n", b"") == content.replace(b"\n", b"")
    for entry in entries:
        msgspec.json.encode(entry)


@pytest.mark.fault("G1")
def test_a_flood_costs_work_by_the_chunk() -> None:
    reader = Reader()
    assert len(reader.feed(b"y\n" * 1_000_000)) == 1
    assert len(reader.text) < 20_000
    line = Reader()
    held = [len(line._held) for _ in range(50) if line.feed(b"x" * 100_000) is not None]
    assert max(held) <= 1024 * 1024
    looks = Reader()
    looks.feed(b"{\n" * (CANDIDATE_LIMIT + 5))
    assert looks._candidates == CANDIDATE_LIMIT


@pytest.mark.parametrize("argv", [(), ("",), ("{prompt}",), ("sh", "a\0b")])
def test_an_argv_without_a_program_is_refused(argv: tuple[str, ...]) -> None:
    with pytest.raises(Refused):
        CommandAgent(Options(argv=argv))
