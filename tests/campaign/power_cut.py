"""What a power cut may take: everything that was written after the last fsync.

strace records the writes and syncs of the journal's WAL; after the kill the file is cut back to
the length that was synced last.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

WAL = "journal.db-wal"
_WRITE = re.compile(r"^(\d+) +pwrite64\(\d+<[^>]*/journal\.db-wal>, [^,]*, (\d+), (\d+)")
_SYNC = re.compile(r"^(\d+) +f(?:data)?sync\(\d+<[^>]*/journal\.db-wal>(.*)$")
_RESUMED = re.compile(r"^(\d+) +<\.\.\. f(?:data)?sync resumed>")


def record(log: Path) -> str:
    """The command to run the product under, so that its writes and syncs are recorded."""
    return f"{_strace()} -y -s 0 -e signal=none -e trace=pwrite64,fdatasync,fsync -o {log}"


def kill_at_fsync(number: int) -> str:
    """The command under which the product is killed in its journal's `number`-th fsync."""
    return f"{_strace()} -o /dev/null -e inject=fdatasync:signal=KILL:when={number}"


def _strace() -> str:
    if shutil.which("strace") is None:
        pytest.fail("strace is missing: apt-get install strace", pytrace=False)
    return "strace -f --seccomp-bpf -qq"


def synced_bytes(log: str) -> int:
    """How much of the WAL had reached the disk for certain."""
    written = synced = 0
    syncing: dict[str, int] = {}
    for line in log.splitlines():
        if wrote := _WRITE.match(line):
            written = max(written, int(wrote[3]) + int(wrote[2]))
        elif sync := _SYNC.match(line):
            if "unfinished" in sync[2]:
                syncing[sync[1]] = written
            elif sync[2].endswith("= 0"):
                synced = written
        elif resumed := _RESUMED.match(line):
            synced = max(synced, syncing.pop(resumed[1], 0))
    return synced


def cut(home: Path, log: Path) -> int:
    """Take what was not synced; how many bytes that were."""
    wal = home / WAL
    kept = min(synced_bytes(log.read_text("utf-8", "replace")), wal.stat().st_size)
    lost = wal.stat().st_size - kept
    with wal.open("r+b") as file:
        file.truncate(kept)
    (home / "journal.db-shm").unlink(missing_ok=True)
    return lost
