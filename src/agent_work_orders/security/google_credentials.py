"""Google's application credentials: a JSON of theirs, given as text or as the path of a file.

Only its form is looked at; the agent's own library reads it. What is said of one that cannot be
used never repeats it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

MAX_BYTES = 32_768
"""A service account's is 2,400."""
_SECRETS = ("private_key", "client_secret", "refresh_token")


def read(text: str) -> str:
    """The JSON text. ValueError says what is wrong with it."""
    if not text.lstrip().startswith("{"):
        try:
            with Path(text).open("rb") as file:
                text = file.read(MAX_BYTES + 1).decode("utf-8", "replace")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "not a path"
            raise ValueError(f"not JSON, and no file ({why})") from None
    if len(text) > MAX_BYTES or not isinstance(_fields(text).get("type"), str):
        raise ValueError("not the JSON of Google's credentials, which has a `type`")
    return text


def secrets(text: str) -> tuple[str, ...]:
    found = _fields(text)
    return tuple(value for name in _SECRETS if isinstance(value := found.get(name), str))


def _fields(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        return {}
    return found if isinstance(found, dict) else {}
