"""What a box finds in /etc: copies of what programs need of this machine's, and four files of ours.

Much of /etc is readable for all and not meant for strangers, so what is copied is listed. Of a
listed folder what not everybody may read stays out. Blocks while it reads.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agent_work_orders.sandbox_manager.bubblewrap.arguments import USER_ID
from agent_work_orders.sandbox_manager.inside.paths import HOSTNAME
from agent_work_orders.sandbox_manager.inside.shown import Entry

ETC = Path("/etc")
NAMES = (
    "alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "crypto-policies",
    "debian_version", "default/locale", "environment.d", "fonts", "gai.conf", "inputrc", "java",
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf", "localtime",
    "login.defs", "magic", "magic.mime", "mailcap", "maven", "mime.types", "nsswitch.conf",
    "os-release", "perl", "php", "pki/ca-trust", "pki/tls/certs", "profile", "profile.d",
    "protocols", "R", "redhat-release", "rpc", "services", "shells", "ssl/certs",
    "ssl/openssl.cnf", "terminfo", "timezone", "vulkan", "xattr.conf", "xml",
)  # fmt: skip
PATTERNS = ("java-*", "python3*")
OURS = {
    "passwd": f"agent:x:{USER_ID}:{USER_ID}:agent:/sandbox/home:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": f"agent:x:{USER_ID}:\nnogroup:x:65534:\n",
    "hosts": f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n",
    # Names are resolved outside, by the way out.
    "resolv.conf": "",
}
# Of one file: the largest in it (ld.so.cache, bundles of certificates) have some hundred KiB.
_FILE_BYTES = 8 * 1024 * 1024
_MOST_ENTRIES = 20_000


def entries(etc: Path = ETC) -> dict[str, Entry]:
    """By their names below /etc."""
    found: dict[str, Entry] = {}
    named = [etc / name for name in NAMES]
    named += sorted(path for pattern in PATTERNS for path in etc.glob(pattern))
    for path in named:
        for one in _below(path):
            entry = _entry(one)
            if entry is not None and len(found) < _MOST_ENTRIES:
                found[str(one.relative_to(etc))] = entry
    return found | {name: Entry(content=text.encode()) for name, text in OURS.items()}


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir() or path.is_symlink():
        yield path
        return
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in sorted(names))
        yield from (Path(folder, name) for name in sorted(_linked_folders(folder)))


def _linked_folders(folder: str) -> Iterator[str]:
    with os.scandir(folder) as inside:
        yield from (one.name for one in inside if one.is_symlink() and one.is_dir())


def _entry(path: Path) -> Entry | None:
    try:
        state = path.lstat()
        if stat.S_ISLNK(state.st_mode):
            return Entry(link=os.readlink(path))
        for_all = state.st_mode & stat.S_IROTH and state.st_size <= _FILE_BYTES
        if not stat.S_ISREG(state.st_mode) or not for_all:
            return None
        return Entry(content=path.read_bytes(), mode=0o755 if state.st_mode & 1 else 0o644)
    except OSError:
        return None
