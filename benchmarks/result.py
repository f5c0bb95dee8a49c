"""What a workload found, and the file all findings are kept in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import msgspec

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / ".bench"
RESULTS = ROOT / "benchmarks" / "results.json"
QUICK_RESULTS = SCRATCH / "quick-results.json"
PAGE = ROOT / "docs" / "benchmarks.md"

_ADDRESS = re.compile(r"(?:https?|file)://\S+")
_HERE = f"{ROOT}/"

Role = Literal["ours", "peer", "floor", "baseline"]


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One number. `samples` are the rounds it is the median of, where there were rounds; `size`
    is what was really run when a slow subject got less than the workload asks."""

    subject: str
    role: Role
    metric: str
    value: float
    samples: list[float] = []
    size: int | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A subject that could not be installed, started or brought to an end."""

    subject: str
    role: Role
    error: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    measurements: list[Measurement] = []
    failures: list[Failure] = []
    facts: dict[str, str] = {}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A workload's result, with when and on which commit it was measured."""

    at: str
    commit: str
    took_s: float
    result: Result


class Results(msgspec.Struct, frozen=True, kw_only=True):
    quick: bool
    machine: dict[str, str | float] = {}
    workloads: dict[str, Entry] = {}


def read(path: Path) -> Results | None:
    if not path.exists():
        return None
    return msgspec.json.decode(path.read_bytes(), type=Results)


def write(results: Results, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    encoded = msgspec.json.encode(msgspec.to_builtins(_rounded(results)), order="sorted")
    path.write_bytes(msgspec.json.format(encoded, indent=2) + b"\n")


def publishable(found: Result) -> Result:
    """Errors as one line, without this machine's directories and its registry's address."""

    def plain(error: str) -> str:
        return _ADDRESS.sub("(address)", " ".join(error.split()).replace(_HERE, ""))

    failures = [msgspec.structs.replace(one, error=plain(one.error)) for one in found.failures]
    return msgspec.structs.replace(found, failures=failures)


def _rounded(results: Results) -> Results:
    """Four digits: more would only be noise that makes every run a large diff."""
    entries = {
        name: msgspec.structs.replace(
            entry,
            took_s=_four(entry.took_s),
            result=msgspec.structs.replace(
                entry.result,
                measurements=[
                    msgspec.structs.replace(
                        one, value=_four(one.value), samples=[_four(v) for v in one.samples]
                    )
                    for one in entry.result.measurements
                ],
            ),
        )
        for name, entry in results.workloads.items()
    }
    return msgspec.structs.replace(results, workloads=entries)


def _four(value: float) -> float:
    return float(f"{value:.4g}")
