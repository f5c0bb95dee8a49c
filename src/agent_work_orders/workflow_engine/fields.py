"""Reading a mapping of a workflow file field by field, collecting every problem with its path."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Iterable
from typing import Any

from agent_work_orders.workflow_engine.yaml_source import Finding, Path

_DURATION = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)(ms|s|m|h|d)")
_UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
# Past a year it is a mistake, not a wait.
MAX_DURATION_S = 366 * 86_400.0


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str = "Known") -> str:
    """A hint: the closest known name, else all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names[:2_000], n=1, cutoff=0.6)
    if close:
        return f"Did you mean `{close[0]}`?"
    if not names:
        return ""
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"{otherwise}: {shown}."


def kind_of(value: Any) -> str:
    if value is None:
        return "nothing"
    for kind, name in (
        (bool, "a boolean"),
        (int, "an integer"),
        (float, "a number"),
        (str, "text"),
        (list, "a list"),
    ):
        if isinstance(value, kind):
            return name
    return "a mapping"


def duration_s(text: str) -> float | None:
    """`500ms`, `30s`, `30m`, `24h`, `7d` in seconds; None for anything else."""
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    seconds = float(match.group(1)) * _UNIT_S[match.group(2)]
    return seconds if 0 < seconds <= MAX_DURATION_S else None


class Fields:
    """One mapping. Getters return the default and note a finding when the value is wrong."""

    def __init__(
        self, value: Any, path: Path, findings: list[Finding], allowed: Collection[str]
    ) -> None:
        self.path = path
        self._findings = findings
        self.data: dict[str, Any] = {}
        if not isinstance(value, dict):
            self.problem((), f"Expected a mapping here, found {kind_of(value)}")
            return
        self.data = value
        for key in value:
            if key not in allowed:
                self.problem((key,), f"Unknown key `{key}`", did_you_mean(key, allowed))

    def problem(self, at: Path, message: str, hint: str = "") -> None:
        self._findings.append(Finding(self.path + at, message, hint))

    def has(self, key: str) -> bool:
        return key in self.data

    def _wrong(self, key: str, expected: str, hint: str = "") -> None:
        found = kind_of(self.data[key])
        self.problem((key,), f"`{key}` must be {expected}, found {found}", hint)

    def text(self, key: str, default: str = "", *, most: int = 2_000) -> str:
        if key not in self.data:
            return default
        value = self.data[key]
        if not isinstance(value, str):
            self._wrong(key, "text", "Put it in quotes." if value is not None else "")
            return default
        if not value.strip():
            self.problem((key,), f"`{key}` is empty")
        elif len(value) > most:
            self.problem((key,), f"`{key}` is longer than {most:,} characters")
        return value

    def flag(self, key: str) -> bool:
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            self._wrong(key, "true or false", "Write true or false, without quotes.")
            return False
        return value

    def integer(self, key: str, default: int, least: int, most: int) -> int:
        value = self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            self._wrong(key, "an integer")
            return default
        if not least <= value <= most:
            self.problem((key,), f"`{key}` must be from {least} to {most}, found {value}")
            return default
        return value

    def number(self, key: str, default: float, least: float, most: float) -> float:
        value = self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._wrong(key, "a number")
            return default
        if not (math.isfinite(value) and least <= value <= most):
            self.problem((key,), f"`{key}` must be from {least:g} to {most:g}, found {value:g}")
            return default
        return float(value)

    def duration(self, key: str) -> float | None:
        if key not in self.data:
            return None
        value = self.data[key]
        found = duration_s(value) if isinstance(value, str) else None
        if found is None:
            message = f"`{key}` must be a duration above zero and at most a year"
            self.problem((key,), message, "For example 500ms, 30s, 30m, 24h or 7d.")
        return found

    def choice(self, key: str, known: Collection[str]) -> str | None:
        if key not in self.data:
            return None
        value = self.data[key]
        if not isinstance(value, str) or value not in known:
            shown = value if isinstance(value, str) else kind_of(value)
            hint = did_you_mean(str(value), known)
            self.problem((key,), f"`{key}` cannot be `{shown}`", hint)
            return None
        return value

    def names(self, key: str) -> tuple[str, ...]:
        """A list of texts; a single text stands for a list of one."""
        if key not in self.data:
            return ()
        value = self.data[key]
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list):
            self._wrong(key, "a list of names")
            return ()
        for at, item in enumerate(value):
            if not isinstance(item, str):
                self.problem((key, at), f"Expected a name here, found {kind_of(item)}")
        return tuple(item for item in value if isinstance(item, str))

    def mapping(self, key: str) -> dict[str, Any]:
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            self._wrong(key, "a mapping")
            return {}
        return value
