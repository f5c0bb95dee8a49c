"""Secrets that must be kept: sealed with AES-256-GCM, each for the one row that it belongs to.

Rules:
- What is sealed for a row opens for no other: the row's id is authenticated with it.
- A nonce is random and used once; a key is retired long before two could meet by chance.
- Keys have ids (the beginning of their hash). The first of the ring seals, all of them open: to
  rotate, put a new one first, `reseal` what `is_stale`, then drop the old one.
- Nothing opens quietly wrong: a changed byte, another row, an unknown key are all errors.

Sealed: 1 byte of version, 8 of the key's id, 12 of nonce, then the text with its 16 bytes of tag.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from agent_work_orders.errors import Broken, Environmental, Refused

KEY_BYTES, ID_BYTES, NONCE_BYTES, TAG_BYTES = 32, 8, 12, 16
KEY_FILE = "secret.key"
MOST_KEYS = 8
_VERSION = b"\x01"
_HEAD = len(_VERSION) + ID_BYTES + NONCE_BYTES


class Vault:
    def __init__(
        self, keys: Sequence[bytes], *, chance: Callable[[int], bytes] = os.urandom
    ) -> None:
        if not keys:
            raise Broken("secret_key_missing", "A vault was made without a key")
        self._ciphers = {_id(key): AESGCM(key) for key in keys}
        self._current = _id(keys[0])
        self._chance = chance

    def __repr__(self) -> str:
        return f"Vault({', '.join(key.hex() for key in self._ciphers)})"

    def seal(self, row: str, secret: str) -> bytes:
        nonce = self._chance(NONCE_BYTES)
        cipher = self._ciphers[self._current]
        head = _VERSION + self._current
        return head + nonce + cipher.encrypt(nonce, secret.encode(), head + row.encode())

    def open(self, row: str, sealed: bytes) -> str:
        """Environmental `secret_key_missing`, Broken `secret_damaged`."""
        if len(sealed) < _HEAD + TAG_BYTES or not sealed.startswith(_VERSION):
            raise _damaged(row)
        head, nonce = sealed[: 1 + ID_BYTES], sealed[1 + ID_BYTES : _HEAD]
        cipher = self._ciphers.get(head[1:])
        if cipher is None:
            raise Environmental(
                "secret_key_missing",
                f"The secret of {row} was sealed with the key {head[1:].hex()}, which is not here",
                hint="Bring that key back (behind the current one), or enter the secret again.",
            )
        try:
            return cipher.decrypt(nonce, sealed[_HEAD:], head + row.encode()).decode()
        except (InvalidTag, UnicodeDecodeError):
            raise _damaged(row) from None

    def is_stale(self, sealed: bytes) -> bool:
        """Whether it was sealed with a key that is not the current one."""
        return sealed[1 : 1 + ID_BYTES] != self._current

    def reseal(self, row: str, sealed: bytes) -> bytes:
        return self.seal(row, self.open(row, sealed))


def read_keys(text: str) -> list[bytes]:
    """Keys by comma or line, each 32 bytes in base64. ValueError without a word of them."""
    parts = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    if not 1 <= len(parts) <= MOST_KEYS:
        raise ValueError(f"between 1 and {MOST_KEYS} keys are expected")
    keys = []
    for part in parts:
        try:
            key = base64.b64decode(part.replace("-", "+").replace("_", "/"), validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("a key is not base64") from None
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {len(key)} bytes instead of {KEY_BYTES}")
        keys.append(key)
    if len(set(keys)) < len(keys):
        raise ValueError("a key is there twice")
    return keys


def key_file(home: Path, *, chance: Callable[[int], bytes] = os.urandom) -> list[bytes]:
    """The keys in the data directory; one is made when there is no file. Refused
    `secret_key_invalid`: a file that others can read, or that is not what it should be, is never
    replaced, because what it sealed would be lost."""
    path = home / KEY_FILE
    if not os.path.lexists(path):
        write_key_file(home, [chance(KEY_BYTES)])
    return _existing(path)


def write_key_file(home: Path, keys: Sequence[bytes]) -> None:
    """All of them or none, whenever the machine stops; durable when it returns."""
    path = home / KEY_FILE
    draft = path.with_suffix(".making")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(b"".join(base64.b64encode(key) + b"\n" for key in keys))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _existing(path: Path) -> list[bytes]:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o077:
        raise _invalid(path, "it must be a file that only its owner can read (chmod 600)")
    try:
        return read_keys(path.read_text("ascii"))
    except ValueError as error:
        raise _invalid(path, str(error)) from None


def _id(key: bytes) -> bytes:
    return hashlib.sha256(b"awo vault key\0" + key).digest()[:ID_BYTES]


def _invalid(path: Path, why: str) -> Refused:
    return Refused(
        "secret_key_invalid",
        f"{path} cannot be used to keep secrets: {why}",
        hint="Restore it from a backup. Without it, delete it and enter the kept secrets again.",
        field=path.name,
    )


def _damaged(row: str) -> Broken:
    return Broken(
        "secret_damaged",
        f"The sealed secret of {row} is damaged or another row's",
        hint="Somebody changed the database: restore it, or enter the secret again.",
    )
