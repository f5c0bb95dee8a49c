"""One-time links: once, soon, and not without end."""

from __future__ import annotations

from agent_work_orders.security.links import LIFE_S, MAX_LINKS, Links


class Clock:
    at_s = 100.0

    def now_ms(self) -> int:
        return 0

    def monotonic_s(self) -> float:
        return self.at_s


def test_a_link_works_once_for_its_holder() -> None:
    links = Links(Clock())
    mine, yours = links.mint("me"), links.mint("you")
    assert len(mine) >= 43, "256 bits"
    assert (links.take(yours), links.take(yours)) == ("you", None)
    assert (links.take("x"), links.take(""), links.take("x" * 999), links.take("\ud800")) == (
        (None,) * 4
    )
    assert links.take(mine) == "me"


def test_a_link_is_old_after_ten_minutes() -> None:
    clock = Clock()
    links = Links(clock)
    early, late = links.mint("me"), links.mint("me")
    clock.at_s += LIFE_S - 1
    assert links.take(early) == "me"
    clock.at_s += 1
    assert links.take(late) is None


def test_links_are_bounded_and_kept_as_hashes() -> None:
    links = Links(Clock())
    tokens = [links.mint("me") for _ in range(MAX_LINKS + 1)]
    assert not any(token in repr(vars(links)) for token in tokens)
    assert links.take(tokens[0]) is None
    assert links.take(tokens[1]) == "me"
