"""A backup becomes a data directory: proved first, put there in one step, and what goes on said.

Everything is made in a folder beside the target, which takes its name at the very end: a kill at
any moment leaves no data directory, and the next restore removes what was half-made.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec

from agent_work_orders.clock import Clock
from agent_work_orders.errors import AgentWorkOrdersError, Conflict, Environmental, NotFound
from agent_work_orders.ids import order_of
from agent_work_orders.repositories import bundle
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.state_manager import lock
from agent_work_orders.state_manager.branches import Branch
from agent_work_orders.state_manager.files import crate
from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
from agent_work_orders.state_manager.store import Store
from agent_work_orders.tools import order_branch
from agent_work_orders.work_orders.backup import BUNDLES

OLD_FORMAT = b"SQLite format 3\0"
"""Earlier versions kept the database alone."""
NO_COMMITS = "it is the database alone, as earlier versions made it: no commit of an order is in it"


StoreAt = Callable[[Path, Clock], AbstractAsyncContextManager[Store]]
"""Opens the store in a folder, and closes it."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    home: str
    created_at: str
    goes_on: list[str]
    """Open orders with everything they need."""
    lacking: dict[str, str]
    """Open orders that cannot go on, and what each is missing."""
    missing: list[str]
    """What else is not there, in words."""


async def restore(backup: Path, home: Path, clock: Clock, store_at: StoreAt) -> Restored:
    """Environmental `backup_damaged`, `restore_failed`; Conflict `restore_target_in_use`,
    `data_directory_in_use`; NotFound `backup_missing`. Then nothing was changed."""
    if not backup.is_file():
        raise NotFound(
            "backup_missing",
            f"There is no backup at {backup}",
            hint="Give the file that `awo backup FILE` wrote.",
        )
    _refuse_used(home)
    making = home.with_name(f".{home.name}.restoring")
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        held = lock.OwnerLock.acquire(making, started_at_ms=clock.now_ms())
        try:
            told = await _made(backup, making, home, clock, store_at)
        finally:
            held.release()
        _refuse_used(home)
        os.rename(making, home)
        _sync(home.parent)
    except OSError as error:
        raise Environmental(
            "restore_failed",
            f"cannot restore into {home} ({error.strerror})",
            hint="Give a folder that is not there yet, on a disk with enough space; a mount "
            "point cannot be replaced, a folder inside it can be made.",
        ) from error
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return told


def _refuse_used(home: Path) -> None:
    owner = lock.read_owner(home)
    if owner is not None:
        raise Conflict(
            "data_directory_in_use",
            f"{home} is used by process {owner.pid or 'unknown'}",
            hint="Restore elsewhere with --to, or stop that server and move its directory away.",
        )
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise Conflict(
            "restore_target_in_use",
            f"{home} is not empty: nothing is restored over other data",
            hint="Move it away first, or restore elsewhere with --to.",
        )


async def _made(
    backup: Path, making: Path, home: Path, clock: Clock, store_at: StoreAt
) -> Restored:
    for left in making.iterdir():
        if left.name != lock.LOCK_NAME:
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    inner = making / "unpacked"
    inner.mkdir(mode=0o700)
    manifest = await asyncio.to_thread(_unpacked, backup, inner)
    mirrors = Mirrors(inner / "mirrors", Git())
    missing = list(manifest.missing)
    for one in sorted((inner / BUNDLES).glob("*.bundle")):
        key = one.name.removesuffix(".bundle")
        await mirrors.create(mirrors.path(key))
        await bundle.read(mirrors.at(key), one)
    shutil.rmtree(inner / BUNDLES, ignore_errors=True)
    async with store_at(inner, clock) as store:
        mirrors = Mirrors(inner / "mirrors", mirrors.git, store.branches)
        await _turn_back(store, mirrors, manifest.heads)
        told = await _told(store, mirrors, manifest, missing)
        details = {"created_at": manifest.created_at, "version": manifest.version}
        who, at_ms = "local", clock.now_ms()
        await store.audit.append(at_ms=at_ms, who=who, what="backup.restore", details=details)
    for one in inner.iterdir():
        os.rename(one, making / one.name) if one.name != lock.LOCK_NAME else one.unlink()
    inner.rmdir()
    _sync(making)
    return msgspec.structs.replace(told, home=str(home))


def _unpacked(backup: Path, folder: Path) -> crate.Manifest:
    with backup.open("rb") as opened:
        old = opened.read(len(OLD_FORMAT)) == OLD_FORMAT
    if not old:
        manifest = crate.unpack(backup, folder)
        if not (folder / DATABASE_NAME).is_file():
            raise crate.damaged(backup, "there is no database in it")
        return manifest
    shutil.copyfile(backup, folder / DATABASE_NAME)
    return crate.Manifest(version="", created_at="", missing=[NO_COMMITS])


async def _turn_back(store: Store, mirrors: Mirrors, before: dict[str, str]) -> None:
    """Every branch to where the copied journal left it: what was committed after that moment is
    not in this history and is done again."""
    known = {one.order_id: one for one in await store.branches.all()}
    for folder in sorted(mirrors.folder.glob("*.git")):
        mirror = mirrors.at(folder.name.removesuffix(".git"))
        wanted: dict[str, str | None] = {}
        for name, sha in (await mirror.refs(bundle.ORDERS)).items():
            order_id, _, last = name.removeprefix(bundle.ORDERS + "/").partition("/")
            one = known.get(order_id)
            if last == "head":
                at = one.head_sha if one is not None else before.get(order_id)
                unborn = one is not None and one.head_sha == one.base_sha
                wanted[name] = None if unborn else at
            elif last == "base" and one is not None:
                wanted[name] = one.base_sha
            if wanted.get(name, sha) == sha:
                wanted.pop(name, None)
        lacking = set(await mirror.lacks([sha for sha in wanted.values() if sha is not None]))
        turned = {name: sha for name, sha in wanted.items() if sha not in lacking}
        await bundle.turn_back(mirror, turned)


async def _told(
    store: Store, mirrors: Mirrors, manifest: crate.Manifest, missing: list[str]
) -> Restored:
    loaded = await store.journal.load_open()
    lacking = {one.run_id: one.reason for one in loaded.quarantined}
    goes_on: list[str] = []
    for order_id in sorted({str(order_of(row.run_id)) for row in loaded.runs} - set(lacking)):
        try:
            await _need_commits(store, mirrors, order_id)
        except AgentWorkOrdersError as error:
            lacking[order_id] = error.message
        else:
            goes_on.append(order_id)
    if await store.credentials.all():
        missing.append("the key of kept credentials (secret.key or AWO_SECRET_KEY): bring it back")
    if absent := await store.artifacts.absent():
        missing.append(f"{len(absent)} pieces of evidence that orders had kept")
    return Restored(
        home="",
        created_at=manifest.created_at,
        goes_on=goes_on,
        lacking=lacking,
        missing=missing,
    )


async def _need_commits(store: Store, mirrors: Mirrors, order_id: str) -> None:
    """An order without a commit starts from its base, which the origin has. What an order of an
    earlier version committed is known from its receipts, and remembered from here on."""
    row, entries = await store.records.get(order_id), await store.ledger.entries(order_id)
    receipts = {one.key: one.receipt for one in entries if one.receipt is not None}
    begun = receipts.get(f"{order_id}:base")
    if row is None or begun is None:
        return
    base = str(begun["base_sha"])
    made = [str(one["commit"]) for one in receipts.values() if one.get("commit")]
    known = await store.branches.get(order_id)
    if known is None and made and not mirrors.stored(row.repository):
        known = Branch(
            order_id=order_id, repository=row.repository, base_sha=base, head_sha=made[-1]
        )
        await store.branches.keep(known)
    if known is not None and known.head_sha != known.base_sha:
        await order_branch.span(mirrors, row.repository, order_id, known.base_sha)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
