"""Looking for planted secrets in bytes, in every form in which one travels by itself.

Written apart from the product's redactor on purpose: one would not find what the other forgot.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from urllib.parse import quote

# Shorter pieces of a secret would be found by chance.
SHORTEST = 12


def forms(secret: str) -> set[bytes]:
    """A secret of several lines (a key) is looked for line by line: any one of them is a find."""
    found: set[bytes] = set()
    for line in secret.splitlines():
        if len(line) < SHORTEST or line.startswith("-----"):
            continue
        raw = line.encode()
        found |= {raw, raw[::-1], raw.hex().encode(), raw.hex().upper().encode()}
        found |= {quote(line, safe="").encode(), json.dumps(line)[1:-1].encode()}
        for before in range(3):
            whole = base64.b64encode(b"\0" * before + raw)
            # The first and last characters depend on the neighbours.
            core = whole[4:-4]
            found |= {core, core.replace(b"+", b"-").replace(b"/", b"_")}
    return {one for one in found if len(one) >= SHORTEST}


class Search:
    def __init__(self, planted: Mapping[str, Iterable[str]]) -> None:
        """Secrets by what they are: `webhook secret`, `installation token`…"""
        self._needles = [
            (needle, name)
            for name, secrets in planted.items()
            for secret in secrets
            for needle in forms(secret)
        ]

    def found(self, content: bytes) -> set[str]:
        """What it is that the content holds, never the secret itself."""
        return {name for needle, name in self._needles if needle in content}
