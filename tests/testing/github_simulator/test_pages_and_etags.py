"""Pages are cut and linked, and unchanged answers recognised, as GitHub does."""

from __future__ import annotations

import pytest

from agent_work_orders.testing.github_simulator import etags, pages

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


def test_one_page_has_no_links() -> None:
    assert pages.cut(list(range(30)), {}, AT) == (list(range(30)), {})


def test_the_pages_together_are_everything_once() -> None:
    items = list(range(70))
    seen: list[int] = []
    for number in ("1", "2", "3"):
        body, headers = pages.cut(items, {"page": number, "state": "all"}, AT)
        seen += body
        assert "state=all" in headers["link"]
    assert seen == items


def test_links_of_first_middle_and_last_page() -> None:
    def names(page: str) -> list[str]:
        _, headers = pages.cut(list(range(70)), {"page": page}, AT)
        return [part.split('rel="')[1].rstrip('"') for part in headers["link"].split(", ")]

    assert names("1") == ["next", "last"]
    assert names("2") == ["prev", "next", "last", "first"]
    assert names("3") == ["prev", "first"]
    assert names("9") == ["prev", "first"]
    _, headers = pages.cut(list(range(70)), {"page": "9"}, AT)
    assert f"<{AT}?page=3>" in headers["link"]


def test_a_counted_list_is_cut_and_its_count_kept() -> None:
    body, headers = pages.cut({"total_count": 3, "check_runs": [1, 2, 3]}, {"per_page": "2"}, AT)
    assert body == {"total_count": 3, "check_runs": [1, 2]}
    assert "page=2" in headers["link"]


def test_an_object_is_left_alone() -> None:
    assert pages.cut({"labels": list(range(50))}, {}, AT) == ({"labels": list(range(50))}, {})


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
