"""The stream-json reader and the classification, on recorded and on broken output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.agent_executor import claude_outcome
from agent_work_orders.agent_executor.agent import Entry, Turn
from agent_work_orders.agent_executor.claude_stream import Reader
from agent_work_orders.agent_executor.lines import LINE_LIMIT_BYTES
from agent_work_orders.sandbox_manager.sandbox import Ended, Execution

SAMPLES = Path(__file__).parent / "samples"
SESSION = "8a34c274-f6f1-43c5-96c9-5be86c5a8518"
NOW_MS = 1_000_000


def ended(
    exit_code: int | None = 0,
    *,
    by: Ended = "exited",
    signal: int | None = None,
    stderr: bytes = b"",
) -> Execution:
    return Execution(
        ended=by,
        exit_code=exit_code,
        signal=signal,
        stdout=b"",
        stderr=stderr,
        stdout_bytes=0,
        stderr_bytes=0,
        truncated=False,
        duration_s=1.0,
    )


def read(content: bytes, size: int = 7919) -> tuple[Reader, list[Entry]]:
    reader = Reader()
    entries: list[Entry] = []
    for start in range(0, len(content), size):
        entries += reader.feed(content[start : start + size])
    return reader, entries + reader.close()


def turn_of(content: bytes, execution: Execution | None = None, **more: Any) -> Turn:
    reader, _ = read(content)
    return claude_outcome.turn(
        reader.facts(), execution or ended(), now_ms=NOW_MS, timeout_s=60, **more
    )


def result(**fields: Any) -> bytes:
    body = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": 1,
        "result": "done",
        "session_id": SESSION,
        "total_cost_usd": 0.5,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 3},
    }
    return json.dumps(body | fields).encode() + b"\n"


def assistant(text: str = "hi", message: str = "m1") -> bytes:
    content = [{"type": "text", "text": text}]
    usage = {"input_tokens": 100, "output_tokens": 1}
    body = {"id": message, "model": "claude", "content": content, "usage": usage}
    return (
        json.dumps({"type": "assistant", "message": body, "session_id": SESSION}).encode() + b"\n"
    )


@pytest.mark.parametrize(
    ("sample", "exit_code", "kind"),
    [
        ("claude_stream_json_edit", 0, None),
        ("claude_partial", 0, None),
        ("claude_permission_denials", 0, None),
        ("claude_hooks", 0, None),
        ("claude_fail_400", 1, "invalid_request"),
        ("claude_fail_401", 1, "auth"),
        ("claude_fail_403", 1, "auth"),
        ("claude_fail_404", 1, "invalid_request"),
        ("claude_fail_429", 1, "rate_limit"),
        ("claude_fail_500", 1, "server"),
        ("claude_fail_529", 1, "overloaded"),
        ("claude_fail_refused", 1, "network"),
        ("claude_max_turns", 1, "max_turns"),
        ("claude_budget", 1, "budget"),
        ("claude_sigint", 0, "interrupted"),
    ],
)
@pytest.mark.parametrize("size", [1, 100_000])
def test_recorded_runs_are_classified(
    sample: str, exit_code: int, kind: str | None, size: int
) -> None:
    reader, _ = read((SAMPLES / f"{sample}.jsonl").read_bytes(), size)
    turn = claude_outcome.turn(reader.facts(), ended(exit_code), now_ms=NOW_MS, timeout_s=60)
    assert (turn.error.kind if turn.error else None) == kind
    assert turn.ok is (kind is None)
    assert turn.session_id is not None
    assert reader.facts().noise == 0


def test_a_recorded_edit_is_told_in_full() -> None:
    reader, entries = read((SAMPLES / "claude_stream_json_edit.jsonl").read_bytes())
    tools = [entry.text for entry in entries if entry.kind == "tool_use"]
    assert tools == ["Read", "Edit", "Write", "Bash"]
    assert sum(entry.kind == "tool_result" for entry in entries) == 4
    turn = claude_outcome.turn(reader.facts(), ended(), now_ms=NOW_MS, timeout_s=60)
    assert turn.text == "Fixed add() and committed."
    assert turn.session_id == SESSION
    assert turn.usage == msgspec.structs.replace(
        turn.usage, cost_usd=0.03125, input_tokens=5000, output_tokens=250, turns=5
    )


def test_denials_do_not_fail_a_turn_and_are_named() -> None:
    turn = turn_of((SAMPLES / "claude_permission_denials.jsonl").read_bytes())
    assert turn.ok
    assert turn.denials[1:] == ("Write(/workspace/w.txt)", "Write(/run/agent.txt)")


def test_cost_is_the_difference_only_within_the_same_session() -> None:
    content = result(total_cost_usd=0.7)
    same = turn_of(content, resumed=SESSION, previous_cost_usd=0.5)
    assert same.usage.cost_usd == pytest.approx(0.2)
    assert same.cumulative_cost_usd == 0.7
    assert turn_of(content, resumed=None, previous_cost_usd=0.5).usage.cost_usd == 0.7
    assert turn_of(content, resumed=SESSION, previous_cost_usd=9.0).usage.cost_usd == 0.7


OPTIONAL = (
    "subtype",
    "result",
    "session_id",
    "total_cost_usd",
    "usage",
    "api_error_status",
    "terminal_reason",
    "permission_denials",
    "errors",
)
ODD: tuple[Any, ...] = (None, "much", 7, -1.5, True, [None, 3, "x"], {"input_tokens": "many"}, [[]])


@pytest.mark.fault("N6")
@pytest.mark.parametrize("field", OPTIONAL)
@pytest.mark.parametrize("value", ODD, ids=[repr(value) for value in ODD])
def test_a_good_result_is_good_whatever_its_optional_fields_are(field: str, value: Any) -> None:
    turn = turn_of(assistant() + result(**{field: value}))
    assert turn.ok, turn.error
    assert turn.usage.cost_usd >= 0


def test_a_good_result_may_have_null_in_all_optional_fields() -> None:
    turn = turn_of(assistant() + result(**dict.fromkeys(OPTIONAL)))
    assert turn.ok, turn.error


@pytest.mark.fault("G3")
def test_the_last_valid_result_counts() -> None:
    twice = result(result="one") + result(result="two") + result(num_turns="many")
    assert turn_of(twice).text == "two"
    assert turn_of(result(is_error="no")).error.kind == "protocol"  # type: ignore[union-attr]
    went_on = turn_of(result() + assistant())
    assert went_on.error is not None and went_on.error.kind == "protocol"
    assert turn_of(assistant() + result() + assistant() + result()).ok


@pytest.mark.fault("G3")
def test_a_truncated_stream_is_a_crash_with_what_was_used() -> None:
    whole = (SAMPLES / "claude_stream_json_edit.jsonl").read_bytes()
    turn = turn_of(whole[: len(whole) - 400])
    assert turn.error is not None and turn.error.kind == "crashed"
    assert turn.usage.input_tokens == 5000
    assert not turn.saw_end


@pytest.mark.fault("G2")
def test_noise_is_kept_marked_and_harmless() -> None:
    noise = b"warning: \x1b[31mred\n\x00\xff\xfe\n{broken\n[1]\n{}\n" + b'{"type": 5}\n'
    reader, entries = read(noise + assistant("real") + b"\n\n" + result())
    assert claude_outcome.turn(reader.facts(), ended(), now_ms=NOW_MS, timeout_s=60).ok
    noisy = [entry for entry in entries if entry.data.get("noise")]
    assert [entry.text for entry in noisy][2:] == ["{broken", "[1]"]
    assert noisy[1].text.encode("latin-1") == b"\x00\xff\xfe"
    assert noisy[1].data["encoding"] == "latin-1"
    flood, told = read(b"noise {\n" * 50_000 + b"y\n" * 100_000, 65536)
    assert len(told) <= 1000 and flood.facts().noise > 50_000


@pytest.mark.fault("G2")
def test_a_line_of_100_megabytes_is_dropped_in_bounded_memory() -> None:
    reader = Reader()
    entries: list[Entry] = []
    chunk = b"x" * 1_000_000
    reader.feed(b'{"type":"assistant","message":"')
    for _ in range(100):
        entries += reader.feed(chunk)
        assert len(reader._lines._held) <= LINE_LIMIT_BYTES
    entries += reader.feed(b'"}\n' + result())
    assert "was dropped" in entries[0].text and len(entries[0].text) < 3000
    assert claude_outcome.turn(reader.facts(), ended(), now_ms=NOW_MS, timeout_s=60).ok


@pytest.mark.fault("G11")
@pytest.mark.parametrize(
    ("content", "execution", "kind"),
    [
        (b"", ended(0), "no_output"),
        (b"", ended(1, stderr=b"boom"), "crashed"),
        (b"", ended(1, stderr=b"error: unknown option '--safe-mode'"), "invalid_request"),
        (assistant(), ended(0), "crashed"),
        (result(), ended(1), "exit_code"),
        (result(num_turns=0), ended(0), "protocol"),
        (result(subtype="error_during_execution"), ended(0), "crashed"),
        (result(subtype="error_of_a_new_kind"), ended(0), "crashed"),
        (result(), ended(None, signal=9), "crashed"),
        (result(), ended(None, signal=11), "crashed"),
        (result(), ended(137), "crashed"),
        (assistant(), ended(143), "interrupted"),
        (assistant(), ended(None, signal=15), "interrupted"),
        (assistant(), ended(130), "interrupted"),
        (result(), ended(None, by="timed_out"), "timeout"),
        (result(), ended(None, by="idle"), "idle"),
        (result(), ended(None, by="cancelled"), "interrupted"),
    ],
)
def test_odd_endings_are_named(content: bytes, execution: Execution, kind: str) -> None:
    turn = turn_of(content, execution)
    assert not turn.ok
    assert turn.error is not None and turn.error.kind == kind


def test_a_timeout_names_the_limit_and_not_how_long_stopping_took() -> None:
    turn = turn_of(assistant(), ended(None, by="timed_out"))
    assert turn.error is not None and turn.error.message == "the agent ran longer than 60 s"


@pytest.mark.fault("G12")
def test_the_time_of_a_reset_is_found() -> None:
    def at(*lines: bytes) -> int | None:
        turn = turn_of(b"".join(lines), ended(1))
        assert turn.error is not None and turn.error.kind == "rate_limit"
        return turn.error.retry_at_ms

    limit = result(is_error=True, api_error_status=429)
    retry = {"type": "system", "subtype": "api_retry", "error_status": 429}
    told = json.dumps(retry | {"retry_delay_ms": 30000}).encode() + b"\n"
    own = json.dumps(retry | {"retry_delay_ms": 534.2}).encode() + b"\n"
    event = b'{"type":"rate_limit_event","rate_limit_info":{"resetsAt":1794790000}}\n'
    reached = result(is_error=True, result="Claude AI usage limit reached|1794790001")
    assert at(limit) is None
    assert at(own, limit) is None
    assert at(told, limit) == NOW_MS + 30000
    assert at(event, limit) == 1_794_790_000_000
    assert at(reached) == 1_794_790_001_000


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(
            ["type", "message", "content", "usage", "id", "model", "session_id", "result",
             "is_error", "num_turns", "subtype", "text", "rate_limit_info", "resetsAt", "input"]
        ),
        inner | st.sampled_from(["assistant", "user", "result", "system", "init", "tool_result",
                                 "text", "rate_limit_event", "api_retry"]),
        max_size=5,
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.fault("G3")
@given(st.lists(_VALUES.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40)))
def test_nothing_an_agent_prints_breaks_the_reader(lines: list[bytes]) -> None:
    content = b"\n".join(lines)
    whole = turn_of(content)
    reader, entries = read(content, 3)
    assert claude_outcome.turn(reader.facts(), ended(), now_ms=NOW_MS, timeout_s=60) == whole
    for entry in entries:
        msgspec.json.encode(entry)
