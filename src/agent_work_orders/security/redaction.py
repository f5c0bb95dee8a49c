"""Taking secrets out of text before it is written anywhere.

Two rules: the secrets we know, in the forms in which they travel (plain, URL- and JSON-escaped,
base64), and the shapes of well-known tokens. One pass each, linear in the text.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

MARK = "[redacted]"
# FAULTS I3: a shorter secret would redact ordinary words; it is refused where it is set.
SHORTEST = 8

_SHAPES = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{20,255}"
    r"|github_pat_[A-Za-z0-9_]{20,255}"
    r"|sk-ant-[A-Za-z0-9_-]{20,255}"
    r"|sk-[A-Za-z0-9]{32,128}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,255}"
    r"|AKIA[0-9A-Z]{16}"
    r"|eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,2000}"
    r"|key-[a-z2-7]{16}\.[A-Za-z0-9_-]{20,255}"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s]{0,16384}"
)
_USERINFO = re.compile(r"(?<=://)[^/\s:@]{0,256}:[^/\s@]{1,256}@")


class Redactor:
    """Immutable; made anew when the known secrets change."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if len(secret) >= SHORTEST for form in _forms(secret)}
        ordered = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def text(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MARK, text)
        return _USERINFO.sub(MARK + "@", _SHAPES.sub(MARK, text))

    def value(self, value: Any) -> Any:
        """The same for every string in a JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {str(key): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def _forms(secret: str) -> set[str]:
    raw = secret.encode()
    return {
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
        raw.hex(),
    }
