"""What was written outside or came from there, in dictionaries. The contracts are in state_manager:
branches, artifacts, deliveries, subjects, idempotency, quota."""

from __future__ import annotations

import builtins
import hashlib
from collections.abc import Sequence

from msgspec.structs import replace

from agent_work_orders.errors import BadRequest, Conflict, NotFound, TooLarge, Unavailable
from agent_work_orders.state_manager.artifacts import Artifact
from agent_work_orders.state_manager.branches import Branch
from agent_work_orders.state_manager.deliveries import (
    MAX_BATCH_BYTES,
    MAX_WAITING,
    Delivery,
    DeliveryRecord,
    Outcome,
    State,
)
from agent_work_orders.state_manager.subjects import OrderSubject

_MAX_KEY = 255
_MAX_ARTIFACT_BYTES = 256 * 1024 * 1024


class MemoryBranches:
    def __init__(self) -> None:
        self._kept: dict[str, Branch] = {}

    async def keep(self, branch: Branch) -> None:
        self._kept[branch.order_id] = branch

    async def get(self, order_id: str) -> Branch | None:
        return self._kept.get(order_id)

    async def all(self) -> Sequence[Branch]:
        return list(self._kept.values())


class MemoryArtifacts:
    def __init__(self, limit_bytes: int = _MAX_ARTIFACT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._contents: dict[str, bytes] = {}
        self._listed: dict[tuple[str, str, str], Artifact] = {}

    async def put(
        self, order_id: str, path: str, name: str, content: bytes, media_type: str, at_ms: int
    ) -> Artifact:
        if len(content) > self._limit_bytes:
            raise TooLarge("artifact_too_large", f"{name[:80]!r} is too large", hint="Shorten it.")
        sha256 = hashlib.sha256(content).hexdigest()
        self._contents[sha256] = content
        artifact = Artifact(
            order_id=order_id,
            path=path,
            name=name,
            sha256=sha256,
            size_bytes=len(content),
            media_type=media_type,
            created_at_ms=at_ms,
        )
        self._listed[order_id, path, name] = artifact
        return artifact

    async def read(self, sha256: str) -> bytes:
        if sha256 not in self._contents:
            raise NotFound("artifact_unknown", f"there is no artifact {sha256[:80]!r}")
        return self._contents[sha256]

    async def list(self, order_id: str) -> Sequence[Artifact]:
        return [one for one in self._listed.values() if one.order_id == order_id]

    async def absent(self) -> Sequence[str]:
        return [one.sha256 for one in self._listed.values() if one.sha256 not in self._contents]


class MemoryDeliveries:
    def __init__(self, limit: int = MAX_WAITING) -> None:
        self._limit = limit
        self._records: dict[str, DeliveryRecord] = {}
        self._bodies: dict[str, bytes] = {}
        self._last = 0

    async def take(self, delivery_id: str, event: str, body: bytes, at_ms: int) -> bool:
        if await self.taken(delivery_id):
            return False
        if sum(one.state == "waiting" for one in self._records.values()) >= self._limit:
            raise Unavailable("intake_full", f"{self._limit} wait", hint="Later.", retry_after_s=60)
        self._bodies[delivery_id] = body
        self._records[delivery_id] = self._new(delivery_id, event, at_ms)
        return True

    async def note(self, delivery_id: str, event: str, why: str, at_ms: int) -> None:
        if delivery_id not in self._records:
            new = self._new(delivery_id, event, at_ms)
            self._records[delivery_id] = replace(
                new, state="failed", why=why, settled_at_ms=at_ms, has_body=False
            )

    async def waiting(self, limit: int = 100, *, after: int = 0) -> list[Delivery]:
        found, total = builtins.list[Delivery](), 0
        for one in self._in_order():
            if one.state != "waiting" or one.n <= after:
                continue
            body = self._bodies[one.delivery_id]
            total += len(body)
            if len(found) == limit or (found and total > MAX_BATCH_BYTES):
                break
            found.append(
                Delivery(
                    n=one.n,
                    delivery_id=one.delivery_id,
                    event=one.event,
                    body=body,
                    received_at_ms=one.received_at_ms,
                    attempts=one.attempts,
                )
            )
        return found

    async def set_aside(self, at_ms: int) -> list[str]:
        return []  # nothing is ever damaged here

    async def tried(self, n: int) -> None:
        for one in self._waiting([n]):
            self._records[one.delivery_id] = replace(one, attempts=one.attempts + 1)

    async def held(self, n: int) -> None:
        for one in self._waiting([n]):
            self._records[one.delivery_id] = replace(one, attempts=max(0, one.attempts - 1))

    async def settle(self, n: int, outcome: Outcome, why: str, at_ms: int) -> None:
        self._settle([n], outcome, why, at_ms)

    async def settle_idle(self, ns: Sequence[int], why: str, at_ms: int) -> None:
        self._settle(ns, "ignored", why, at_ms)

    async def reopen(self, delivery_id: str) -> bool:
        found = self._records.get(delivery_id)
        if found is None or found.state != "failed" or not found.has_body:
            return False
        again = replace(found, state="waiting", why="", settled_at_ms=None, attempts=0)
        self._records[delivery_id] = again
        return True

    async def trim(self, before_ms: int) -> int:
        old = [
            one.delivery_id
            for one in self._records.values()
            if one.settled_at_ms is not None and one.received_at_ms < before_ms
        ]
        for delivery_id in old:
            del self._records[delivery_id]
            self._bodies.pop(delivery_id, None)
        return len(old)

    async def page(
        self, *, state: State | None = None, before: int | None = None, limit: int = 100
    ) -> list[DeliveryRecord]:
        newest = reversed(self._in_order())
        found = [one for one in newest if state in (None, one.state)]
        return [one for one in found if before is None or one.n < before][:limit]

    async def taken(self, delivery_id: str) -> bool:
        found = self._records.get(delivery_id)
        return found is not None and (found.has_body or found.state != "failed")

    async def find(self, delivery_id: str) -> DeliveryRecord | None:
        return self._records.get(delivery_id)

    def _new(self, delivery_id: str, event: str, at_ms: int) -> DeliveryRecord:
        self._last += 1
        return DeliveryRecord(
            n=self._last,
            delivery_id=delivery_id,
            event=event,
            received_at_ms=at_ms,
            attempts=0,
            state="waiting",
            why="",
            settled_at_ms=None,
            has_body=True,
        )

    def _in_order(self) -> list[DeliveryRecord]:
        return sorted(self._records.values(), key=lambda one: one.n)

    def _waiting(self, ns: Sequence[int]) -> list[DeliveryRecord]:
        return [one for one in self._in_order() if one.n in ns and one.state == "waiting"]

    def _settle(self, ns: Sequence[int], outcome: Outcome, why: str, at_ms: int) -> None:
        for one in self._waiting(ns):
            kept = outcome == "failed"
            if not kept:
                del self._bodies[one.delivery_id]
            self._records[one.delivery_id] = replace(
                one, state=outcome, why=why, settled_at_ms=at_ms, has_body=kept
            )


class MemorySubjects:
    def __init__(self) -> None:
        self._said: dict[str, OrderSubject] = {}

    async def add(self, subject: OrderSubject) -> None:
        about = await self.about(subject.repository_id, subject.subject, 1)
        # Which is the newest must not depend on the clock.
        at_ms = max([subject.at_ms, *(one.at_ms + 1 for one in about)])
        self._said.setdefault(subject.order_id, replace(subject, at_ms=at_ms))

    async def of_order(self, order_id: str) -> OrderSubject | None:
        return self._said.get(order_id)

    async def about(
        self, repository_id: int, subject: str | None = None, limit: int = 1_000
    ) -> list[OrderSubject]:
        found = [
            one
            for one in self._said.values()
            if one.repository_id == repository_id and subject in (None, one.subject)
        ]
        return sorted(found, key=lambda one: one.at_ms, reverse=True)[:limit]


class MemoryIdempotencyKeys:
    def __init__(self) -> None:
        self._claimed: dict[tuple[str, str], tuple[str, str, int]] = {}

    async def claim(
        self, caller: str, key: str, *, body_hash: str, order_id: str, at_ms: int
    ) -> str:
        if not 0 < len(key) <= _MAX_KEY:
            raise BadRequest(
                "idempotency_key_invalid", f"an idempotency key has 1 to {_MAX_KEY} characters"
            )
        claim = self._claimed.setdefault((caller, key), (body_hash, order_id, at_ms))
        if claim[0] != body_hash:
            raise Conflict(
                "idempotency_key_reused", "this idempotency key belongs to another request"
            )
        return claim[1]

    async def forget_before(self, at_ms: int) -> int:
        old = [name for name, claim in self._claimed.items() if claim[2] < at_ms]
        for name in old:
            del self._claimed[name]
        return len(old)


class MemoryQuota:
    def __init__(self) -> None:
        self._states: dict[str, str] = {}

    async def load(self) -> list[str]:
        return list(self._states.values())

    def save(self, credential: str, state: str) -> None:
        self._states[credential] = state

    async def settle(self) -> None:
        pass
