"""Every contract of the store, kept by what ships: SQLite, and the fake without a disk."""

from __future__ import annotations

import inspect
import typing
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_work_orders.clock import Clock
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.state_manager.store import Store
from agent_work_orders.testing.conformance import access, read_side, world
from agent_work_orders.testing.fakes.memory_store import MemoryStore

BY_ITSELF = {"journal": "test_journal_conformance.py", "ledger": "test_ledger_conformance.py"}
"""Contracts that others use without a store: their suites run where these files say."""


@pytest.fixture(params=["sqlite", "memory"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock
) -> AsyncIterator[Store]:
    if request.param == "memory":
        yield MemoryStore(clock)
        return
    opened = SqliteStore.open(tmp_path / "home", clock)
    yield opened
    await opened.close()


class TestBranches(world.BranchesConformance): ...


class TestArtifacts(world.ArtifactsConformance): ...


class TestDeliveries(world.DeliveriesConformance): ...


class TestSubjects(world.SubjectsConformance): ...


class TestIdempotencyKeys(world.IdempotencyKeysConformance): ...


class TestQuota(world.QuotaConformance): ...


class TestRecords(read_side.RecordsConformance): ...


class TestApprovals(read_side.ApprovalsConformance): ...


class TestLogbook(read_side.LogbookConformance): ...


class TestFeed(read_side.FeedConformance): ...


class TestVersions(read_side.VersionsConformance): ...


class TestKeys(access.KeysConformance): ...


class TestSessions(access.SessionsConformance): ...


class TestCredentials(access.CredentialsConformance): ...


class TestAudit(access.AuditConformance): ...


def test_every_contract_has_a_suite() -> None:
    """Each contract of the store is run here against both, or is named with its own file."""
    folder, missing = Path(__file__).parent, []
    for name, part in vars(Store).items():
        if not isinstance(part, property) or name == "damaged":
            continue
        contract = typing.get_type_hints(part.fget)["return"].__name__
        suite = globals().get(f"Test{contract}")
        if name in BY_ITSELF:
            said = (folder / BY_ITSELF[name]).read_text()
            kept = all(f"class Test{kind}{contract}(" in said for kind in ("Sqlite", "Memory"))
        else:
            kept = inspect.isclass(suite) and suite.__mro__[1].__name__ == f"{contract}Conformance"
        if not kept:
            missing.append(contract)
    assert missing == []
