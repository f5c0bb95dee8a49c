"""The local operator's token: made at the first start, readable by this user only."""

from __future__ import annotations

import os
import re
from pathlib import Path

from agent_work_orders import ids

NAME = "local.key"
_TOKEN = re.compile(rb"local\.[A-Za-z0-9_-]{40,}\n?")


def ensure(home: Path) -> str:
    """The token in the data directory. One that is cut off or garbled is replaced: an empty token
    must never be anybody's. Its mode is set again, should somebody have opened it."""
    path = home / NAME
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""
    if _TOKEN.fullmatch(content):
        path.chmod(0o600)
        return content.decode("ascii").strip()
    token = f"local.{ids.new_secret()}"
    draft = path.with_suffix(".making")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    return token
