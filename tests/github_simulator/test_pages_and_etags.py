"""Pages are cut and linked, and unchanged answers recognised, as GitHub does."""

from __future__ import annotations

import pytest

from github_simulator.asking import pages
from github_simulator.outside import etags

AT = "http://127.0.0.1:1/repositories/7/issues"


@pytest.mark.parametrize(
    ("query", "number", "size"),
    [
        ({}, 1, 30),
        ({"per_page": "100", "page": "3"}, 3, 100),
        ({"per_page": "101"}, 1, 100),
        ({"per_page": "0", "page": "0"}, 1, 30),
        ({"per_page": "-5", "page": "x"}, 1, 30),
        ({"per_page": "٣"}, 1, 30),
    ],
)
def test_what_was_asked_is_bounded(query: dict[str, str], number: int, size: int) -> None:
    assert pages.asked(query) == pages.Page(number=number, size=size)


def links(page: str, total: int = 70, **query: str) -> str | None:
    asked = {"page": page, **query}
    return pages.link(AT, asked, pages.asked(asked), total)


def names(page: str) -> list[str]:
    return [part.split('rel="')[1].rstrip('"') for part in (links(page) or "").split(", ")]


def test_one_page_has_no_links() -> None:
    assert pages.link(AT, {}, pages.asked({}), 30) is None
    assert pages.link(AT, {}, pages.asked({}), 31) is not None


def test_the_pages_together_are_everything_once() -> None:
    items = list(range(70))
    seen: list[int] = []
    for number in ("1", "2", "3", "4"):
        seen += pages.asked({"page": number}).of(items)
    assert seen == items


def test_links_of_first_middle_and_last_page() -> None:
    assert names("1") == ["next", "last"]
    assert names("2") == ["prev", "next", "last", "first"]
    assert names("3") == ["prev", "first"]
    assert names("9") == ["prev", "first"]
    assert f"<{AT}?page=3>" in (links("9") or "")


def test_links_keep_the_rest_of_the_query() -> None:
    assert f"<{AT}?page=2&state=all&labels=a%2Cb>" in (links("1", state="all", labels="a,b") or "")


def test_a_tag_belongs_to_content_and_credential() -> None:
    one = etags.tag(b"{}", credential="installation:1", accept="*/*")
    assert one == etags.tag(b"{}", credential="installation:1", accept="*/*")
    assert one.startswith('W/"')
    assert one != etags.tag(b"{ }", credential="installation:1", accept="*/*")
    assert one != etags.tag(b"{}", credential="installation:2", accept="*/*")
    assert one != etags.tag(b"{}", credential="installation:1", accept="application/json")
    assert not etags.tag(b"{}", credential="", accept="", strong=True).startswith("W/")


def test_who_has_it_is_recognised() -> None:
    have = 'W/"aa"'
    assert etags.unchanged({"if-none-match": 'W/"aa"'}, have, None)
    assert etags.unchanged({"if-none-match": '"bb", "aa"'}, have, None)
    assert etags.unchanged({"if-none-match": "*"}, have, None)
    assert not etags.unchanged({"if-none-match": '"bb"'}, have, None)
    assert not etags.unchanged({}, have, None)


def test_dates_count_only_without_tags() -> None:
    modified = etags.last_modified({"updated_at": "2026-01-01T10:00:00Z"})
    assert modified == "Thu, 01 Jan 2026 10:00:00 GMT"
    same, earlier = {"if-modified-since": modified}, "Thu, 01 Jan 2026 09:59:59 GMT"
    assert etags.unchanged(same, '"a"', modified)
    assert not etags.unchanged({"if-modified-since": earlier}, '"a"', modified)
    assert not etags.unchanged({**same, "if-none-match": '"b"'}, '"a"', modified)
    assert not etags.unchanged({"if-modified-since": "nonsense"}, '"a"', modified)
    assert etags.last_modified([{"updated_at": "2026-01-01T10:00:00Z"}]) is None
