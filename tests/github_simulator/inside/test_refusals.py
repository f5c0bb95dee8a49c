"""It refuses what GitHub refuses: every rule has a request that it refuses, and without exactly
that rule the request is no longer refused that way."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import refused_graphql
import refused_requests
import refused_writing
from refused_requests import Example
from town import Town

import github_simulator
from github_simulator.call import Answer, Refusal
from github_simulator.rules import refusals
from github_simulator.things.git_store import GitRefused

pytestmark = pytest.mark.slow

EXAMPLES: dict[str, Example] = {
    **refused_requests.EXAMPLES,
    **refused_writing.EXAMPLES,
    **refused_graphql.EXAMPLES,
}
SOURCE = Path(str(github_simulator.__file__)).parent


def said(answer: Answer) -> tuple[int, Any, Any]:
    """The way of a refusal: its status, its message, its errors."""
    body = answer.body if isinstance(answer.body, dict) else {}
    return answer.status, body.get("message"), body.get("errors")


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The rules that refused something, in order."""
    found: list[str] = []
    original = Refusal.__init__

    def noting(self: Refusal, **given: Any) -> None:
        found.append(given["rule"])
        original(self, **given)

    monkeypatch.setattr(Refusal, "__init__", noting)
    return found


@pytest.mark.parametrize("rule", sorted(refusals.RULES))
def test_each_rule_refuses_and_nothing_else_does(
    rule: str, founded: Town, tmp_path: Path, raised: list[str]
) -> None:
    example = EXAMPLES[rule]
    refused = example(founded.moved(tmp_path / "with"))
    assert raised[-1:] == [rule]
    assert refused.status == refusals.RULES[rule].status
    if refused.status != 200:
        assert refused.body["documentation_url"].startswith("https://docs.github.com/rest")
        assert refused.body["status"] == str(refused.status)
    with refusals.without(rule):
        other = founded.moved(tmp_path / "without")
        try:
            granted = example(other)
        except (LookupError, AssertionError, ValueError, TypeError, StopIteration, GitRefused):
            # Nothing to go on with: that is not the refusal either.
            return
    assert said(granted) != said(refused)


def test_every_rule_has_an_example_a_reason_and_a_use() -> None:
    assert set(EXAMPLES) == set(refusals.RULES)
    text = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    for rule in refusals.RULES.values():
        assert rule.cites and rule.message, rule.id
        name = next(n for n, value in vars(refusals).items() if value is rule)
        assert re.search(rf"refusals\.{name}\b", text), f"nothing applies {name}"
