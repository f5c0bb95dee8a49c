"""Artifacts, versions, keys, audit."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.clock import Clock
from agent_work_orders.errors import Broken, Environmental, NotFound, TooLarge
from agent_work_orders.state_manager.files.artifacts import FileArtifacts
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.testing.conformance.read_side import save


async def test_artifacts_are_kept_once_and_listed(store: SqliteStore) -> None:
    put = store.artifacts.put
    first = await put("wo-a", "plan", "transcript.jsonl", b"hello", "text/plain", 1)
    again = await put("wo-b", "plan", "../../etc/passwd\ud800", b"hello", "text/plain", 2)
    assert first.sha256 == again.sha256 == hashlib.sha256(b"hello").hexdigest()
    assert await store.artifacts.read(first.sha256) == b"hello"
    newer = await put("wo-a", "plan", "transcript.jsonl", b"more", "text/plain", 3)
    assert list(await store.artifacts.list("wo-a")) == [newer]
    files = [p for p in (store.home / "artifacts").rglob("*") if p.is_file()]
    assert len(files) == 2
    for unknown in ("0" * 64, "../../owner.lock", ""):
        with pytest.raises(NotFound):
            await store.artifacts.read(unknown)


@pytest.mark.fault("A25")
async def test_a_hundred_megabytes_go_beside_the_journal(store: SqliteStore) -> None:
    content = bytes(range(256)) * 4096 * 100
    kept = await store.artifacts.put("wo-a", "", "big", content, "application/octet-stream", 1)
    assert kept.size_bytes == 104_857_600
    assert await store.artifacts.read(kept.sha256) == content
    assert store.path.stat().st_size + store.wal_bytes() < 2_000_000
    place = store.home / "artifacts" / kept.sha256[:2] / kept.sha256[2:]
    with place.open("r+b") as file:
        file.seek(50_000_000)
        file.write(b"\xff\xfe\xfd")
    with pytest.raises(Broken) as caught:
        await store.artifacts.read(kept.sha256)
    assert caught.value.code == "artifact_corrupt"


async def test_artifacts_have_a_limit_and_crashes_leave_nothing(store: SqliteStore) -> None:
    directory = store.home / "artifacts"
    (directory / "new-left").write_bytes(b"half")
    small = FileArtifacts(directory, store.artifacts._listing, limit_bytes=10)
    assert not (directory / "new-left").exists()
    with pytest.raises(TooLarge):
        await small.put("wo-a", "", "n", b"x" * 11, "text/plain", 1)


@pytest.mark.fault("A13")
async def test_a_full_volume_for_artifacts(volume: Path, store: SqliteStore) -> None:
    artifacts = FileArtifacts(volume, store.artifacts._listing)
    with pytest.raises(Environmental) as caught:
        await artifacts.put("wo-a", "", "n", bytes(8_000_000), "text/plain", 1)
    assert caught.value.code == "disk_full"
    assert [p for p in volume.rglob("*") if p.is_file()] == []
    assert list(await artifacts.list("wo-a")) == []


async def test_versions_cannot_be_changed_by_mistake(store: SqliteStore) -> None:
    one = await save(store, "one", origin="builtin")
    for sql in ("UPDATE workflow_versions SET source = ''", "DELETE FROM workflow_versions"):
        with pytest.raises(sqlite3.IntegrityError):
            await store.writer.submit(lambda connection, sql=sql: connection.execute(sql))
    assert await store.versions.get("fix", 1) == one


async def test_keys(store: SqliteStore, clock: Any) -> None:
    key, token = await store.keys.create("ci", "operator", repositories=["github.com/o/r"])
    assert await store.keys.authenticate(token) == key
    for wrong in ("", ".", key.key_id, token + "x", token[:-1], "x" * 300, "\ud800.x"):
        assert await store.keys.authenticate(wrong) is None
    secret = token.split(".")[1]
    await store.writer.submit(lambda connection: None)
    for path in (store.path, store.path.with_name("journal.db-wal")):
        assert secret.encode() not in path.read_bytes()
    assert (await store.keys.all())[0].last_used_at_ms == clock.at_ms
    clock.at_ms += 30_000
    used = await store.keys.authenticate(token)
    clock.at_ms += 30_000
    await store.keys.authenticate(token)
    await store.writer.submit(lambda connection: None)
    assert used is not None and (await store.keys.all())[0].last_used_at_ms == clock.at_ms
    revoked = await store.keys.revoke(key.key_id)
    assert revoked.revoked_at_ms == clock.at_ms
    clock.at_ms += 1
    assert await store.keys.revoke(key.key_id) == revoked
    assert await store.keys.authenticate(token) is None
    with pytest.raises(NotFound):
        await store.keys.revoke("key-unknown")
    everywhere, _ = await store.keys.create("root", "admin")
    assert (await store.keys.all())[-1] == everywhere


async def audited(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore.open(tmp_path, clock)
    await asyncio.gather(
        *(
            store.audit.append(at_ms=n, who="ann", what="approve", order_id="wo-a", target=str(n))
            for n in range(1, 6)
        )
    )
    await store.audit.append(at_ms=9, who="bob", what="login", details={"from": "cli"})
    assert await store.audit.verify() is None
    assert [row.n for row in await store.audit.page()] == [1, 2, 3, 4, 5, 6]
    assert [row.n for row in await store.audit.page(order_id="wo-a", after=3)] == [4, 5]
    await store.close()


@pytest.mark.fault("I8")
@pytest.mark.parametrize(
    ("edit", "broken"),
    [
        ("UPDATE audit SET who = 'eve' WHERE n = 3", 3),
        ("UPDATE audit SET order_id = NULL WHERE n = 2", 2),
        ("DELETE FROM audit WHERE n = 4", 4),
        ("DELETE FROM audit WHERE n = 6", 6),
        ("DELETE FROM audit", 1),
        ("INSERT INTO audit SELECT 7, at_ms, who, what, order_id, target, details, chain, checksum "
         "FROM audit WHERE n = 6", 7),
        ("DELETE FROM meta WHERE name LIKE 'audit_%'", 1),
    ],
)  # fmt: skip
async def test_an_edited_audit_log_shows(
    tmp_path: Path, clock: Clock, edit: str, broken: int
) -> None:
    await audited(tmp_path, clock)
    with sqlite3.connect(tmp_path / "journal.db") as connection:
        connection.execute("DROP TRIGGER audit_stays")
        connection.execute("DROP TRIGGER audit_is_kept")
        connection.execute(edit)
    connection.close()
    store = SqliteStore.open(tmp_path, clock)
    found = await store.audit.verify()
    assert found is not None and found.n == broken
    await store.close()


@pytest.mark.fault("I8")
async def test_the_audit_log_cannot_be_edited_by_mistake(store: SqliteStore) -> None:
    await store.audit.append(at_ms=1, who="ann", what="approve")
    for sql in ("UPDATE audit SET who = 'eve'", "DELETE FROM audit"):
        with pytest.raises(sqlite3.IntegrityError):
            await store.writer.submit(lambda connection, sql=sql: connection.execute(sql))
    with pytest.raises(TooLarge):
        await store.audit.append(at_ms=1, who="a", what="b", details={"x": "y" * 70_000})
    assert await store.audit.verify() is None
