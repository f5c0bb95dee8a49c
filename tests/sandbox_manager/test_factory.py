"""One door to all types of sandbox, whoever makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from agent_work_orders.clock import SystemClock
from agent_work_orders.errors import Refused
from agent_work_orders.sandbox_manager.factory import SandboxFactory
from agent_work_orders.sandbox_manager.sandbox_types import SANDBOX_TYPES
from agent_work_orders.testing.conformance.sandbox import order

# Without an engine a container cannot be made.
MADE = [name for name in SANDBOX_TYPES if name != "container"]


@pytest.fixture
def factory(bench: Any) -> Iterator[SandboxFactory]:
    made = SandboxFactory(bench.home, bench.sandboxes.mirrors, SystemClock())
    yield made
    made.close()


async def test_every_listed_type_is_made_and_known(factory: SandboxFactory, bench: Any) -> None:
    await factory.start()
    specs = [msgspec.structs.replace(order(bench), sandbox_type=name) for name in MADE]
    for spec in specs:
        assert not (await factory.state(spec.order_id)).exists
        sandbox = factory.open(spec)
        assert sandbox.sandbox_type == spec.sandbox_type
        await sandbox.setup()
        state = await factory.state(spec.order_id)
        assert (state.exists, state.head_sha) == (True, bench.base_sha)
        assert factory.isolation(spec.sandbox_type).summary
    records = await factory.records()
    assert sorted(one.sandbox_type for one in records) == sorted(MADE)
    first, *others = specs
    assert await factory.discard(first.order_id)
    assert not await factory.discard(first.order_id)
    assert len(await factory.reap(set(), 0)) == len(others)
    assert [(await factory.state(one.order_id)).exists for one in specs] == [False] * len(specs)


async def test_who_has_a_workspace_keeps_it_from_being_reaped(
    factory: SandboxFactory, bench: Any
) -> None:
    spec = order(bench)
    sandbox = factory.open(spec)
    await sandbox.setup()
    async with factory.locks.shared(spec.name):
        assert await factory.reap(set(), 0) == []
        assert (await factory.state(spec.order_id)).exists
    assert await factory.reap(set(), 0) == [sandbox.sandbox_identifier]


async def test_a_type_that_there_is_not(factory: SandboxFactory, bench: Any) -> None:
    spec = msgspec.structs.replace(order(bench), sandbox_type="e2b")  # type: ignore[arg-type]
    with pytest.raises(Refused) as refused:
        factory.open(spec)
    assert refused.value.code == "sandbox_type_unknown"
    assert all(name in refused.value.hint for name in SANDBOX_TYPES)
