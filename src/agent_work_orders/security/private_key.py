"""A private key that is given as text or as the path of a file.

The text is only looked at here: reading it needs a library that costs every command its import,
so whoever signs with it reads it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

MAX_BYTES = 32_768
"""An RSA key of 8,192 bits takes 6,400."""
_BEGIN, _END = "-----BEGIN ", "PRIVATE KEY-----"


def read(text: str) -> str:
    """The PEM text. A file must be ours alone. ValueError says what is wrong with it, without a
    word of the key."""
    if text.lstrip().startswith(_BEGIN):
        return _pem(text.replace("\\n", "\n"), "the text")
    path = Path(text)
    if len(text) > 4_096 or "\0" in text or "\n" in text:
        raise ValueError("neither PEM text nor the path of a file")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror})") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{path} is not a file")
        if found.st_mode & 0o077:
            raise ValueError(
                f"{path} can be read by others (mode {found.st_mode & 0o777:04o}); chmod 600 it"
            )
        content = os.read(descriptor, MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    return _pem(content.decode("utf-8", "replace"), str(path))


def _pem(text: str, what: str) -> str:
    clean = text.strip() + "\n"
    first, _, rest = clean.partition("\n")
    if len(text) > MAX_BYTES or not (first.startswith(_BEGIN) and first.strip().endswith(_END)):
        raise ValueError(f"{what} is not a private key in PEM form")
    if "ENCRYPTED" in first or "ENCRYPTED" in rest[:200]:
        raise ValueError(f"{what} is locked by a passphrase; give a key without one")
    if f"-----END {first.strip().removeprefix(_BEGIN)}" not in rest:
        raise ValueError(f"{what} is a private key that is cut off")
    return clean
