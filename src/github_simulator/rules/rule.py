"""A rule: something that GitHub refuses, with its status, its message and what it cites.

A rule is applied with `when(condition)` or `found(value)`. Tests take single rules away with
`without(id)` and see that the request that was refused no longer is: a rule that changes nothing,
or that nothing applies, turns a test red.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

from github_simulator.call import Refusal

T = TypeVar("T")
_disabled: set[str] = set()


class Absent(LookupError):
    """A rule was taken away, and without it there is nothing to go on with."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    status: int
    message: str
    # The OpenAPI operation or the page of docs.github.com that says so.
    cites: str

    @property
    def holds(self) -> bool:
        return self.id not in _disabled

    def when(
        self,
        condition: object,
        message: str = "",
        *,
        errors: list[Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Refuse if the condition is true."""
        if condition and self.holds:
            raise Refusal(
                rule=self.id,
                status=self.status,
                message=message or self.message,
                errors=errors,
                headers=headers,
            )

    def found(self, value: T | None, message: str = "", errors: list[Any] | None = None) -> T:
        """Refuse if there is nothing."""
        self.when(value is None, message, errors=errors)
        if value is None:
            raise Absent(self.id)
        return value

    def invalid(
        self,
        condition: object,
        resource: str,
        field: str = "",
        *,
        code: str = "custom",
        message: str = "",
    ) -> None:
        """Refuse with one entry of `errors`, the way GitHub's models do."""
        error = {"resource": resource, "code": code}
        if field:
            error["field"] = field
        if message:
            error["message"] = message
        self.when(condition, errors=[error])


@contextmanager
def without(rule_id: str) -> Iterator[None]:
    """For tests: as if this rule had never been written."""
    if rule_id not in RULES:
        raise KeyError(rule_id)
    _disabled.add(rule_id)
    try:
        yield
    finally:
        _disabled.discard(rule_id)


RULES: dict[str, Rule] = {}
# What most models of GitHub say first; the errors say what.
INVALID = "Validation Failed"


def declare(id: str, status: int, message: str, cites: str) -> Rule:
    if id in RULES:
        raise ValueError(f"rule {id} is declared twice")
    RULES[id] = rule = Rule(id=id, status=status, message=message, cites=cites)
    return rule
