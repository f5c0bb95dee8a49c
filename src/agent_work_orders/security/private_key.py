"""A private key that is given as text, as base64 of the text, or as the path of a file.

The text is only looked at here: reading it needs a library that costs every command its import,
so whoever signs with it reads it. What is said of one that cannot be used never repeats it: a
text that is no path is most likely a key in a form that we do not know.
"""

from __future__ import annotations

import base64
import binascii
import os
import stat

MAX_BYTES = 32_768
"""An RSA key of 8,192 bits takes 6,400."""
_BEGIN, _END = "-----BEGIN ", "PRIVATE KEY-----"
_FORMS = "PEM text, base64 of it, or the path of a file"


def read(text: str) -> str:
    """The PEM text. A file must be ours alone. ValueError says what is wrong with it, without a
    word of the key."""
    if (pem := _text(text)) is not None:
        return _pem(pem, "the text")
    if len(text) > 4_096 or not text.isprintable():
        raise ValueError(f"not {_FORMS}")
    try:
        descriptor = os.open(text, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a path"
        raise ValueError(f"not PEM text nor base64 of it, and no file ({why})") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it names something that is not a file")
        if found.st_mode & 0o077:
            raise ValueError(
                f"the file can be read by others (mode {found.st_mode & 0o777:04o}); chmod 600 it"
            )
        content = os.read(descriptor, MAX_BYTES * 2).decode("utf-8", "replace")
    finally:
        os.close(descriptor)
    return _pem(_text(content) or content, "the file's content")


def _text(text: str) -> str | None:
    """PEM text, plain or in base64, its lines as lines."""
    plain = text.replace("\\r", "").replace("\\n", "\n")
    if plain.lstrip().startswith(_BEGIN):
        return plain
    packed = "".join(plain.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        opened = base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    inner = opened.decode("utf-8", "replace").replace("\\n", "\n")
    return inner if inner.lstrip().startswith(_BEGIN) else None


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
