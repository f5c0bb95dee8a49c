"""What a program may tell a person's terminal: how to draw, and nothing about itself."""

from __future__ import annotations

import pytest

from agent_work_orders.cli.keyboard import Strings

DRAWN = b"\x1b[1;31mred\x1b[0m\r\n\x1b[2J\x1b[3;4H\x1b(B\x1b=\xc3\xa9\xe2\x82\xac"
ADDRESSED = [
    b"\x1b]0;title\x07",
    b"\x1b]52;c;aGVsbG8=\x1b\\",
    b"\x1bPq;sixel\x1b\\",
    b"\x1b_app\x1b\\",
    b"\x1b^pm\x1b\\",
    b"\x1bXsos\x1b\\",
    b"\xc2\x9d0;title\xc2\x9c",
    b"\x1b]8;;http://example.invalid\x1b\\",
    b"\x1b]0;" + b"x" * 100_000 + b"\x07",
]


def cut(data: bytes, size: int) -> bytes:
    strings = Strings()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(strings.without(piece) for piece in pieces)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000_000])
def test_drawing_passes_whole(size: int) -> None:
    assert cut(DRAWN, size) == DRAWN


@pytest.mark.parametrize("size", [1, 2, 5, 4_097, 1_000_000])
@pytest.mark.parametrize("string", ADDRESSED, ids=lambda string: repr(string[:8]))
def test_what_addresses_the_terminal_is_taken_out(string: bytes, size: int) -> None:
    assert cut(b"before" + string + b"after", size) == b"beforeafter"


def test_a_string_without_an_end_hides_what_follows_it() -> None:
    strings = Strings()
    assert strings.without(b"a\x1b]0;") == b"a"
    assert strings.without(b"b" * 10_000) == b""
    assert strings.without(b"\x07c") == b"c"
