"""What reaches a terminal: nothing that it or its reader would obey."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.cli import marks
from agent_work_orders.cli.following import waits_for
from agent_work_orders.cli.screen import first_line, seconds


@pytest.mark.fault("G2")
@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;5;196mred\x1b[m", "red"),
        ("\x1b]0;title\x07text", "⟨U+001B⟩]0;title⟨U+0007⟩text"),
        ("\x1b]8;;http://e\x1b\\\\link", "⟨U+001B⟩]8;;http://e⟨U+001B⟩\\\\link"),
        ("\x1bPhidden\x1b\\\\", "⟨U+001B⟩Phidden⟨U+001B⟩\\\\"),
        ("a\rb", "a⟨U+000D⟩b"),
        ("ok\x1b[2K\x1b[1Afake", "ok⟨U+001B⟩[2K⟨U+001B⟩[1Afake"),
        ("admin\u202etxt.exe", "admin⟨U+202E⟩txt.exe"),
        ("a\ufe01b\u180bc\u2800d", "a⟨U+FE01⟩b⟨U+180B⟩c⟨U+2800⟩d"),
        ("sun \u2600\ufe0f x\ufe0f", "sun \u2600\ufe0f x⟨U+FE0F⟩"),
        ("zero\u200bwidth\u2066x\u2069", "zero⟨U+200B⟩width⟨U+2066⟩x⟨U+2069⟩"),
        ("two\nlines\ttab", "two lines tab"),
        ("\x9b31mc1", "⟨U+009B⟩31mc1"),
        ("half \ud800 character", "half \ufffd character"),
        ("tag\U000e0041 filler\u3164", "tag⟨U+E0041⟩ filler⟨U+3164⟩"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
        ("x\u200dy", "x⟨U+200D⟩y"),
    ],
)
def test_control_characters_do_not_pass(given_text: str, shown: str) -> None:
    assert marks.line(given_text) == shown


@given(st.text(st.characters(categories=None)))
def test_nothing_that_is_left_controls_anything(text: str) -> None:
    for left in (marks.line(text), marks.patch(text.replace("\n", "").replace("\t", ""))):
        assert all(ord(char) >= 0x20 and not 0x7F <= ord(char) < 0xA0 for char in left)
        assert not set(left) & set(
            "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
        )
        left.encode()


@pytest.mark.fault("G2")
@given(st.text(st.characters(categories=None)))
def test_a_patch_shows_every_character(text: str) -> None:
    """What is shown tells what was there: nothing is left out without a mark."""
    shown = marks.patch(text)
    back = re.sub(r"⟨U\+([0-9A-F]{4,6})⟩", lambda found: chr(int(found[1], 16)), shown)
    whole = re.sub(r"⟨U\+([0-9A-F]{4,6})⟩", lambda found: chr(int(found[1], 16)), text)
    assert back == re.sub("[\ud800-\udfff]", "\ufffd", whole)


def test_a_block_keeps_its_lines() -> None:
    assert marks.block("+a\r\n\tb\x1b[0m\x00\n") == "+a\n\tb⟨U+0000⟩\n"
    assert marks.patch("+a\r\n-\x1b[0mb\n") == "+a⟨U+000D⟩\n-⟨U+001B⟩[0mb\n"


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
