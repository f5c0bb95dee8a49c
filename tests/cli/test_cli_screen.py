"""What reaches a terminal: nothing that it or its reader would obey."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.cli.following import waits_for
from agent_work_orders.cli.screen import clean, clean_block, first_line, seconds


@pytest.mark.fault("G2")
@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\rb", "ab"),
        ("ok\x1b[2K\x1b[1Afake", "okfake"),
        ("admin\u202etxt.exe", "admintxt.exe"),
        ("zero\u200bwidth\u2066x\u2069", "zerowidthx"),
        ("two\nlines\ttab", "two lines tab"),
        ("\x9b31mc1", "c1"),
        ("half \ud800 character", "half  character"),
    ],
)
def test_control_characters_do_not_pass(given_text: str, shown: str) -> None:
    assert clean(given_text) == shown


@given(st.text(st.characters(categories=None)))
def test_nothing_that_is_left_controls_anything(text: str) -> None:
    left = clean(text)
    assert all(ord(char) >= 0x20 and not 0x7F <= ord(char) < 0xA0 for char in left)
    assert not set(left) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
    left.encode()


def test_a_block_keeps_its_lines() -> None:
    assert clean_block("+a\r\n\tb\x1b[0m\x00\n") == "+a\n\tb\n"


def test_durations_and_first_lines_read_well() -> None:
    assert [seconds(400), seconds(61_000), seconds(3_720_000)] == [
        "0.4 s",
        "1 min 1 s",
        "1 h 2 min",
    ]
    assert first_line("\n\n  hello \nworld") == "hello"
    assert first_line("x" * 200, 10) == "x" * 9 + "…"


def test_what_an_order_waits_for_is_said_in_words() -> None:
    assert waits_for({"waiting_reason": "github_quota"}) == "GitHub"
    assert waits_for({"waiting_reason": "retry: git_timeout"}) == "retry: git_timeout"
    assert waits_for({"waiting_reason": None}) == ""
