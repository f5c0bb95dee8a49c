"""Who may do what, and who did, in dictionaries. The contracts are in state_manager: keys,
sessions, credentials, audit."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from agent_work_orders.clock import Clock
from agent_work_orders.errors import NotFound, Refused, TooLarge
from agent_work_orders.ids import new_id, new_secret
from agent_work_orders.state_manager.audit import AuditBreak, AuditEntry, AuditRow
from agent_work_orders.state_manager.credentials import KeptCredential
from agent_work_orders.state_manager.keys import ApiKey, Role
from agent_work_orders.state_manager.sessions import MAX_PER_HOLDER, Session

_NOTE_USE_EVERY_MS = 60_000
_MAX_DETAILS = 64 * 1024


class MemoryKeys:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.stored: dict[str, ApiKey] = {}
        self._secrets: dict[str, str] = {}

    async def create(
        self, name: str, role: Role, *, repositories: Sequence[str] | None = None
    ) -> tuple[ApiKey, str]:
        if repositories is not None and not repositories:
            raise Refused("key_repositories_empty", "A key for no repository could do nothing")
        key = ApiKey(
            key_id=new_id("key"),
            name=name,
            role=role,
            repositories=None if repositories is None else tuple(repositories),
            created_at_ms=self._clock.now_ms(),
        )
        secret = self._secrets[key.key_id] = new_secret()
        self.stored[key.key_id] = key
        return key, f"{key.key_id}.{secret}"

    async def authenticate(self, token: str) -> ApiKey | None:
        key_id, _, secret = token.partition(".")
        key, right = self.stored.get(key_id), self._secrets.get(key_id, "")
        said = secret.encode("utf-8", "replace")
        if not hmac.compare_digest(said, right.encode()) or key is None:
            return None
        if key.revoked_at_ms is not None:
            return None
        now_ms = self._clock.now_ms()
        if key.last_used_at_ms is None or now_ms - key.last_used_at_ms >= _NOTE_USE_EVERY_MS:
            self.stored[key_id] = replace(key, last_used_at_ms=now_ms)
        return key

    async def revoke(self, key_id: str) -> ApiKey:
        key = self.stored.get(key_id)
        if key is None:
            raise NotFound("api_key_unknown", f"there is no key {key_id[:80]}")
        if key.revoked_at_ms is None:
            self.stored[key_id] = replace(key, revoked_at_ms=self._clock.now_ms())
        return self.stored[key_id]

    async def all(self) -> Sequence[ApiKey]:
        return list(self.stored.values())


class MemorySessions:
    def __init__(self, keys: MemoryKeys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock
        self._stored: dict[str, Session] = {}

    async def create(self, holder: str) -> tuple[Session, str]:
        now_ms, secret = self._clock.now_ms(), new_secret()
        self._stored = {
            name: one for name, one in self._stored.items() if now_ms < one.expires_at_ms
        }
        session = Session(
            session_id=new_id("ses"), holder=holder, created_at_ms=now_ms, used_at_ms=now_ms
        )
        self._stored[secret] = session
        own = [name for name, one in self._stored.items() if one.holder == holder]
        own.sort(key=lambda name: self._stored[name].used_at_ms)
        for name in own[:-MAX_PER_HOLDER]:
            del self._stored[name]
        return session, secret

    async def authenticate(self, secret: str) -> Session | None:
        found, now_ms = self._stored.get(secret), self._clock.now_ms()
        if found is None or now_ms >= found.expires_at_ms:
            return None
        key = self._keys.stored.get(found.holder)
        if key is not None and key.revoked_at_ms is not None:
            return None
        if now_ms - found.used_at_ms >= _NOTE_USE_EVERY_MS:
            found = self._stored[secret] = replace(found, used_at_ms=now_ms)
        return replace(found, key=key)

    async def end(self, session_id: str) -> bool:
        ended = [name for name, one in self._stored.items() if one.session_id == session_id]
        for name in ended:
            del self._stored[name]
        return bool(ended)


class MemoryCredentials:
    def __init__(self) -> None:
        self._kept: dict[str, KeptCredential] = {}

    async def put(self, *kept: KeptCredential) -> None:
        self._kept |= {one.name: one for one in kept}

    async def reseal(self, anew: Callable[[KeptCredential], bytes]) -> int:
        fresh = {name: replace(one, sealed=anew(one)) for name, one in self._kept.items()}
        changed = sum(fresh[name] != one for name, one in self._kept.items())
        self._kept = fresh
        return changed

    async def remove(self, name: str) -> bool:
        return self._kept.pop(name, None) is not None

    async def all(self) -> Sequence[KeptCredential]:
        return [self._kept[name] for name in sorted(self._kept)]


class MemoryAudit:
    """Nobody can change a row here, so there is no chain."""

    def __init__(self) -> None:
        self._rows: list[AuditRow] = []

    async def append(
        self,
        *,
        at_ms: int,
        who: str,
        what: str,
        target: str = "",
        order_id: str | None = None,
        details: dict[str, Any] | None = None,
    ) -> AuditRow:
        return self.add(
            AuditEntry(
                at_ms=at_ms,
                who=who,
                what=what,
                target=target,
                order_id=order_id,
                details=details or {},
            )
        )

    def add(self, entry: AuditEntry) -> AuditRow:
        size = len(msgspec.json.encode(entry.details))
        if size > _MAX_DETAILS:
            said = f"the details of {entry.what} have {size} characters"
            raise TooLarge("audit_details_too_large", said)
        row = AuditRow(
            n=len(self._rows) + 1,
            at_ms=entry.at_ms,
            who=entry.who,
            what=entry.what,
            order_id=entry.order_id,
            target=entry.target,
            details=entry.details,
        )
        self._rows.append(row)
        return row

    async def page(
        self, *, after: int = 0, limit: int = 100, order_id: str | None = None
    ) -> Sequence[AuditRow]:
        found = [one for one in self._rows if one.n > after and order_id in (None, one.order_id)]
        return found[:limit]

    async def verify(self) -> AuditBreak | None:
        return None
