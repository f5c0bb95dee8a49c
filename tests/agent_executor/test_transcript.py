"""Keeping what was said, and going on from it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.agent_executor import resume
from agent_work_orders.agent_executor.agent import Entry
from agent_work_orders.agent_executor.lines import Lines
from agent_work_orders.agent_executor.transcript import decode, encode, limited

ENTRIES = st.builds(
    Entry,
    kind=st.sampled_from(["text", "thinking", "tool_use", "tool_result", "system", "error"]),
    text=st.text(),
    data=st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers(0, 9), max_size=3),
)


@given(st.lists(ENTRIES))
def test_what_is_written_is_read(entries: list[Entry]) -> None:
    assert decode(b"".join(encode(entry) for entry in entries)).entries == tuple(entries)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(content: bytes) -> None:
    decode(content)


def test_a_torn_line_costs_one_entry() -> None:
    content = encode(Entry(kind="text", text="one")) + encode(Entry(kind="text", text="two"))
    reading = decode(content[:-4])
    assert [entry.text for entry in reading.entries] == ["one"]
    assert reading.damaged == 1


def test_secrets_are_taken_out_everywhere() -> None:
    entry = Entry(
        kind="tool_use",
        text="use s3cret",
        data={"input": {"s3cret": ["a s3cret", {"deep": "s3cret"}], "n": 1}},
    )
    line = encode(entry, redact=lambda text: text.replace("s3cret", "[redacted]"))
    assert b"s3cret" not in line
    assert line.count(b"[redacted]") == 4


@given(st.text(min_size=1).map(lambda text: text * 3000), st.booleans())
def test_a_large_entry_is_cut_and_kept_aside(text: str, in_data: bool) -> None:
    kept: list[bytes] = []

    def spill(content: bytes) -> str:
        kept.append(content)
        return "abc123"

    entry = Entry(
        kind="tool_result", text="" if in_data else text, data={"x": text} if in_data else {}
    )
    line = encode(entry, spill=spill, limit_bytes=4096)
    assert len(line) <= 4096
    if kept:
        [found] = decode(line).entries
        assert found.data["artifact"] == "abc123" and found.data["size_bytes"] == len(kept[0])
        assert decode(kept[0]).entries == (entry,)
    else:
        assert decode(line).entries == (entry,)


def test_what_is_spilled_is_redacted_too() -> None:
    kept: list[bytes] = []
    encode(
        Entry(kind="text", text="s3cret " * 5000),
        redact=lambda text: text.replace("s3cret", "x"),
        spill=lambda content: kept.append(content) or "n",  # type: ignore[func-returns-value]
        limit_bytes=2048,
    )
    assert kept and b"s3cret" not in kept[0]


@pytest.mark.fault("G1")
def test_a_turns_transcript_has_an_end() -> None:
    told: list[Entry] = []
    say = limited(told.append, limit_bytes=1000)
    for _ in range(100):
        say(Entry(kind="text", text="x" * 100))
    say(Entry(kind="error", text="the reason"))
    assert told[-1].text == "the reason"
    assert "left out" in told[-2].text
    assert len(told) < 15


@pytest.mark.fault("G17")
def test_the_record_keeps_the_newest_and_its_note_gives_it_no_authority() -> None:
    entries = [
        Entry(kind="prompt", text="build it"),
        Entry(kind="system", text="noise"),
        Entry(kind="tool_use", text="Edit", data={"input": {"path": "a.py"}}),
        Entry(kind="text", text="Half of it is done."),
    ]
    text = resume.record(entries)
    assert text == "asked: build it\nused: Edit {'path': 'a.py'}\nsaid: Half of it is done.\n"
    long = resume.record(
        [Entry(kind="text", text=f"{n} " + "x" * 900) for n in range(100)], limit_chars=50_000
    )
    assert len(long) < 50_100
    assert "said: 99 " in long and "said: 1 " not in long
    assert long.startswith("[earlier entries are left out]")
    [one] = resume.record([Entry(kind="text", text="y" * 100_000)]).splitlines()
    assert len(one) < 5_000 and "100000 characters" in one
    for kept in (True, False):
        note = resume.note("/home/earlier", files_kept=kept)
        assert "/home/earlier" in note and "not instructions" in note
        assert ("as they left them" in note) is kept


@pytest.mark.parametrize("kinds", [[], ["prompt"], ["prompt", "error", "system", "thinking"]])
def test_where_nothing_was_done_there_is_no_record(kinds: list[Any]) -> None:
    assert resume.record([Entry(kind=kind, text="x") for kind in kinds]) == ""


@given(st.binary(max_size=100), st.integers(1, 20))
def test_lines_do_not_depend_on_chunks(content: bytes, size: int) -> None:
    def read(step: int) -> list[bytes]:
        lines = Lines(limit_bytes=10)
        found = []
        for start in range(0, len(content), step):
            found += lines.feed(content[start : start + step])
        return [line.content + b"+%d" % line.lost_bytes for line in (*found, *lines.close())]

    assert read(size) == read(1000)
