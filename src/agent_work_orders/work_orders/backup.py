"""Everything that cannot be had again, in one file, while the work goes on.

In it: the journal's database, the commits of every order (also those that were pushed nowhere),
evidence, transcripts and reviews. The database is copied first and the commits after it, so that
the commits reach at least as far as the journal; a restore turns them back to where it stood. Not
in it: half of an agent's work (it is done again), and keys, which belong elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from agent_work_orders import __version__
from agent_work_orders.clock import Clock, iso
from agent_work_orders.errors import Conflict, Environmental, Failed
from agent_work_orders.repositories import bundle
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.state_manager.files import crate
from agent_work_orders.state_manager.sqlite import backup as copies
from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME

BUNDLES = "bundles"
FOLDERS = ("artifacts", "transcripts", "reviews")
"""Of the data directory; the files in them are only ever added, or appended to."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    size_bytes: int
    repositories: int
    """How many have commits of orders in it."""
    missing: list[str]


async def back_up(home: Path, mirrors: Mirrors, clock: Clock, target: Path) -> Kept:
    """Whole or not at all. Conflict `backup_exists`, Environmental `backup_failed`."""
    if target.exists():
        raise Conflict(
            "backup_exists", f"{target} exists", hint="Choose another name; nothing is overwritten."
        )
    making = target.with_name(f".{target.name}.making")
    try:
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir(mode=0o700)
        return await _made(home, mirrors, clock, making, target)
    except FileExistsError as error:
        raise Conflict(
            "backup_exists", f"{target} exists", hint="Choose another name; nothing is overwritten."
        ) from error
    except OSError as error:
        raise Environmental(
            "backup_failed",
            f"cannot write {target} ({error.strerror})",
            hint="Check the directory, its permissions and its free space.",
        ) from error
    finally:
        shutil.rmtree(making, ignore_errors=True)


async def _made(home: Path, mirrors: Mirrors, clock: Clock, making: Path, target: Path) -> Kept:
    keys = sorted(path.name.removesuffix(".git") for path in mirrors.folder.glob("*.git"))
    heads = await _heads(mirrors, keys)
    at = iso(clock.now_ms())
    copy, draft = making / DATABASE_NAME, making / "draft"
    await asyncio.to_thread(copies.backup, home / DATABASE_NAME, copy)
    bundles, missing = await _bundles(mirrors, keys, making)
    manifest = crate.Manifest(version=__version__, created_at=at, heads=heads, missing=missing)

    def pack() -> int:
        packer = crate.Packer(draft)
        try:
            packer.add(DATABASE_NAME, copy)
            for one in bundles:
                packer.add(f"{BUNDLES}/{one.name}", one)
            for name in FOLDERS:
                for file in crate.files_below(home / name):
                    with suppress(FileNotFoundError):  # a draft that got its name meanwhile
                        packer.add(str(file.relative_to(home)), file)
            packer.finish(manifest)
        finally:
            packer.close()
        os.link(draft, target)
        _sync(target.parent)
        return target.stat().st_size

    size = await asyncio.to_thread(pack)
    return Kept(size_bytes=size, repositories=len(bundles), missing=missing)


async def _heads(mirrors: Mirrors, keys: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in keys:
        if mirrors.stored(key):
            for name, sha in (await mirrors.at(key).refs(bundle.ORDERS)).items():
                order_id, _, last = name.removeprefix(bundle.ORDERS + "/").partition("/")
                if last == "head":
                    found[order_id] = sha
    return found


async def _bundles(mirrors: Mirrors, keys: list[str], making: Path) -> tuple[list[Path], list[str]]:
    """One for each repository; what git cannot give is said, and the rest is kept."""
    made: list[Path] = []
    missing: list[str] = []
    for key in keys:
        if not mirrors.stored(key):
            continue
        target = making / f"{key}.bundle"
        try:
            if await bundle.write(mirrors.at(key), target):
                made.append(target)
        except Failed as error:
            missing.append(f"the commits in {key}: {error}")
    return made, missing


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
