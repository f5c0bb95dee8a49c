"""What we remember of a hub for a while: who may write, which rules a repository has, who we are.

Bounded, in memory, and asked again when it is old. Who may write is only ever the hub's own
answer, never a claim of a payload.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from agent_work_orders.clock import Clock
from agent_work_orders.github_integration.forge import Hub, Repository
from agent_work_orders.github_integration.quota import Priority
from agent_work_orders.work_orders.incoming import rules
from agent_work_orders.work_orders.incoming.github_event import Person
from agent_work_orders.work_orders.incoming.rules import Rules, RulesInvalid

PERMISSION_S = 300.0
RULES_S = 60.0
LOGIN_S = 3_600.0
MAX_KEPT = 5_000
WRITERS = ("write", "maintain", "admin")

Key = TypeVar("Key")
Value = TypeVar("Value")


class Memory(Generic[Key, Value]):
    """Values that are good for some seconds; the oldest goes first."""

    def __init__(self, clock: Clock, good_s: float) -> None:
        self._clock = clock
        self._good_s = good_s
        self._kept: OrderedDict[Key, tuple[float, Value]] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        until_s, value = self._kept.get(key, (0.0, None))
        return value if self._clock.monotonic_s() < until_s else None

    def put(self, key: Key, value: Value) -> None:
        self._kept.pop(key, None)
        self._kept[key] = (self._clock.monotonic_s() + self._good_s, value)
        if len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)

    def forget(self, key: Key) -> None:
        self._kept.pop(key, None)


class HubMemory:
    def __init__(self, hub: Hub, clock: Clock, server_rules: Rules = rules.DEFAULTS) -> None:
        self._hub = hub
        self._server_rules = server_rules
        self._writers: Memory[tuple[int, str], bool] = Memory(clock, PERMISSION_S)
        self._rules: Memory[int, Rules | RulesInvalid] = Memory(clock, RULES_S)
        self._login: Memory[str, str] = Memory(clock, LOGIN_S)

    async def may_write(
        self,
        repository: Repository,
        repository_id: int,
        who: Person,
        priority: Priority = "order",
        *,
        fresh: bool = False,
    ) -> bool:
        """Kept for the account and its name together: a name may be somebody else's by now. What
        decides something is asked `fresh`: they may have lost their access a moment ago."""
        key = (repository_id, who.mark)
        known = None if fresh else self._writers.get(key)
        if known is None:
            hub = self._hub.asking(priority)
            known = await hub.permission(repository, who.login) in WRITERS
            self._writers.put(key, known)
        return known

    async def our_login(self) -> str:
        known = self._login.get("")
        if known is None:
            known = await self._hub.our_login()
            self._login.put("", known)
        return known

    async def rules(
        self, repository: Repository, repository_id: int, priority: Priority = "order"
    ) -> Rules:
        """Of the default branch, whatever the event is about. RulesInvalid `rules_invalid`."""
        known = self._rules.get(repository_id)
        if known is None:
            known = self._read(await self._hub.asking(priority).file(repository, rules.FILE))
            self._rules.put(repository_id, known)
        if isinstance(known, RulesInvalid):
            raise known
        return known

    def forget_rules(self, repository_id: int) -> None:
        self._rules.forget(repository_id)

    def _read(self, content: bytes | None) -> Rules | RulesInvalid:
        if content is None:
            return self._server_rules
        try:
            return rules.parse(content.decode("utf-8", "replace"), under=self._server_rules)
        except RulesInvalid as error:
            return error
