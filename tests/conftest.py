"""What holds for every test: the same git, the same settings, the same generator of examples."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

# A busy machine must not fail an example for being slow; a failing example prints how to repeat it.
hypothesis.settings.register_profile("suite", deadline=None, print_blob=True)
hypothesis.settings.load_profile("suite")


def pytest_configure() -> None:
    """The person's own git configuration and our own settings must not reach the tests, nor
    anything that they start: a bare machine has neither."""
    for name in [name for name in os.environ if name.startswith(("AWO_", "GIT_", "GITHUB_"))]:
        del os.environ[name]
    os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    os.environ["GIT_TERMINAL_PROMPT"] = "0"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Campaigns get the time they ask for; the common limit is for everything else."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(600))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    """CI must have what tests need: there a skipped test is a failure that says what is missing."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} may not be skipped in CI: {reason}"
    return report
