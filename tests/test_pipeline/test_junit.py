"""Reports of real test tools, and of hostile ones."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agent_work_orders.test_pipeline import junit

REPORTS = sorted((Path(__file__).parent / "reports").glob("*.xml"))


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_every_case_is_counted(path: Path) -> None:
    cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    bad = [c for c in cases if c.find("failure") is not None or c.find("error") is not None]
    skipped = [c for c in cases if c not in bad and c.find("skipped") is not None]
    report = junit.read(path.read_bytes())
    assert (report.total, report.failed, report.skipped) == (len(cases), len(bad), len(skipped))
    assert len(report.failures) == len(bad)


def test_the_samples_are_not_empty() -> None:
    assert len(REPORTS) == 6
    assert sum(junit.read(path.read_bytes()).failed for path in REPORTS) >= 10


def test_a_failure_is_named_with_its_first_line() -> None:
    content = (
        b"<a><testcase classname='m.C' name='t'><failure>\n  one\ntwo</failure></testcase></a>"
    )
    assert junit.read(content).failures == ("m.C.t: one",)
    content = b"<a><testcase name='t'><error message='m&#10;n'/><failure/></testcase></a>"
    report = junit.read(content)
    assert report.failures == ("t: m",) and report.failed == 1


def test_attributes_of_suites_are_not_believed() -> None:
    content = (
        b"<testsuite tests='100' failures='0'><testcase/><testcase><error/></testcase></testsuite>"
    )
    report = junit.read(content)
    assert (report.total, report.failed) == (2, 1)


def test_only_what_stands_directly_in_a_case_counts() -> None:
    content = b"<a><testcase><system-out><failure/></system-out></testcase><failure/></a>"
    assert junit.read(content).failed == 0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no xml",
        b"<testsuite><testcase></testsuite>",
        b"<testsuite>" + b"<testcase/>" * 3,
        b"<a>\x00</a>",
        b'<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx">]><a>&x;</a>',
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'.encode(
            "utf-16"
        ),
        b'<?xml version="1.0" encoding="no-such"?><a/>',
        b"<a>&undefined;</a>",
        b" " * (junit.LIMIT_BYTES + 1),
    ],
    ids=range(11),
)
def test_what_is_no_report_is_refused(content: bytes) -> None:
    with pytest.raises(junit.Unreadable):
        junit.read(content)


def test_a_hostile_report_costs_no_memory() -> None:
    wide = b"<a>" + b"<b c='d'/>" * 300_000 + b"</a>"
    deep = b"<a>" * 100_000 + b"</a>" * 100_000
    long = b"<a><testcase><failure>" + b"x" * 4_000_000 + b"</failure></testcase></a>"
    tracemalloc.start()
    try:
        assert junit.read(wide).total == 0
        assert junit.read(deep).total == 0
        assert len(junit.read(long).failures[0]) <= 2 * junit.SHOWN_CHARS
        assert tracemalloc.get_traced_memory()[1] < 25_000_000
    finally:
        tracemalloc.stop()


def test_the_list_of_failures_is_bounded() -> None:
    content = b"<a>" + b"<testcase><failure/></testcase>" * 1_000 + b"</a>"
    report = junit.read(content)
    assert report.failed == 1_000
    assert len(report.failures) == junit.SHOWN_FAILURES
