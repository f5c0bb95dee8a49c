"""What can go wrong between GitHub and a client, on demand.

Rules:
- A fault matches by method, path (glob, without the query), operation, and a text that the body
  contains (git's bodies are not looked into); it strikes the `nth` matching request and the
  `times - 1` after it. Of several that match, the first added strikes.
- `applied` says whether the request takes effect before the fault: that is the difference between
  "nothing happened" and "it happened and nobody was told".
- Everything is bounded: a hang ends by itself, a slow body has an end.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

HANG_LIMIT_S = 120.0
SLOW_LIMIT_S = 60.0
HITS_KEPT = 10_000

Kind = Literal[
    "hang",  # no byte is answered until the client gives up
    "drop",  # the connection is closed without an answer
    "reset",  # the same, rudely (RST)
    "status",  # `status` with GitHub's error page
    "secondary",  # a secondary limit, which then holds for `seconds`
    "truncated",  # the body ends in the middle
    "html",  # 200 with a page for people
    "empty",  # 200 without a body
    "slow",  # the body comes in small pieces for `seconds`
    "charset",  # the body is EBCDIC and says UTF-8
    "wrong_type",  # valid JSON of another shape
    "moved",  # 301 to the repository's address by id, as after a rename
    "elsewhere",  # 302 to `location`, on another host
    "lag",  # what is created cannot be read for the next `reads` reads of it
    "loop",  # the Link header's next page is this page
]
BEFORE_ONLY = frozenset({"secondary", "moved", "elsewhere"})
AFTER_ONLY = frozenset({"truncated", "slow", "charset", "lag", "loop"})


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    kind: Kind
    applied: bool = False
    method: str = "*"
    path: str = "*"
    operation: str = "*"
    contains: str = ""
    nth: int = 1
    times: int | None = 1
    status: int = 502
    seconds: float = 0.0
    reads: int = 1
    location: str = ""
    headers: dict[str, str] = {}

    def __post_init__(self) -> None:
        if self.nth < 1 or (self.times is not None and self.times < 1):
            raise ValueError("nth and times count from 1")
        if self.kind in BEFORE_ONLY and self.applied:
            raise ValueError(f"a request answered with {self.kind} is not applied")
        if not 0 <= self.seconds <= HANG_LIMIT_S or not 0 <= self.reads <= 1_000:
            raise ValueError("seconds or reads beyond what a fault may last")

    @property
    def after(self) -> bool:
        """Whether the handler runs first."""
        return self.applied or self.kind in AFTER_ONLY

    def matches(self, method: str, path: str, operation: str, body: bytes = b"") -> bool:
        return (
            self.method in ("*", method)
            and fnmatchcase(path, self.path)
            and fnmatchcase(operation, self.operation)
            and self.contains.encode() in body
        )


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    fault: Fault
    method: str
    path: str


class Faults:
    """The faults that wait, what they struck, and what is still hidden by a lag."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Fault, int]] = []
        self._hidden: dict[str, int] = {}
        self.hits: list[Hit] = []
        self.answered: list[Fault] = []
        """Of those that struck, whose requests have got an answer, however damaged."""

    @property
    def looks_inside(self) -> bool:
        """Whether a fault wants to see the body."""
        return any(fault.contains for fault, _ in self._waiting)

    @property
    def waiting(self) -> list[Fault]:
        return [fault for fault, _ in self._waiting]

    def add(self, *faults: Fault) -> None:
        self._waiting += [(fault, 0) for fault in faults]

    def clear(self) -> None:
        self._waiting.clear()
        self._hidden.clear()

    def take(self, method: str, path: str, operation: str, body: bytes = b"") -> Fault | None:
        """The fault that strikes this request. Every matching one counts it."""
        struck: Fault | None = None
        left: list[tuple[Fault, int]] = []
        for fault, seen in self._waiting:
            if not fault.matches(method, path, operation, body):
                left.append((fault, seen))
                continue
            seen += 1
            if struck is None and seen >= fault.nth:
                struck = fault
            if fault.times is None or seen < fault.nth + fault.times - 1:
                left.append((fault, seen))
        self._waiting = left
        if struck is not None and len(self.hits) < HITS_KEPT:
            self.hits.append(Hit(fault=struck, method=method, path=path))
        return struck

    def over(self, fault: Fault | None, status: int) -> None:
        """The request that it struck has ended; status 0 is no answer."""
        if fault is not None and status and len(self.answered) < HITS_KEPT:
            self.answered.append(fault)

    def hide(self, body: Any, reads: int) -> None:
        """What was just created is not seen by the next `reads` reads that would show it."""
        address = body.get("url") if isinstance(body, dict) else None
        if isinstance(address, str) and reads > 0:
            self._hidden[address] = reads

    def veil(self, address: str, body: Any) -> tuple[bool, Any]:
        """Whether the thing at the address is hidden, and the body without hidden things."""
        if not self._hidden:
            return False, body
        if self._spend(address):
            return True, body
        if isinstance(body, list):
            return False, self._without(body)
        if isinstance(body, dict) and "total_count" in body:
            shown = {k: self._without(v) if isinstance(v, list) else v for k, v in body.items()}
            gone = sum(len(v) - len(shown[k]) for k, v in body.items() if isinstance(v, list))
            return False, {**shown, "total_count": body["total_count"] - gone}
        return False, body

    def _without(self, items: list[Any]) -> list[Any]:
        return [
            item
            for item in items
            if not (isinstance(item, dict) and self._spend(str(item.get("url"))))
        ]

    def _spend(self, address: str) -> bool:
        left = self._hidden.get(address)
        if left is None:
            return False
        if left == 1:
            del self._hidden[address]
        else:
            self._hidden[address] = left - 1
        return True
