"""GitHub's signature of a delivery: HMAC-SHA256 over the raw bytes, as lower-case hex. Pure.

Every configured secret is tried, always all of them, and compared in constant time: how long it
takes says nothing about the secrets, nor about which one fits.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence

HEADER = "X-Hub-Signature-256"
_FORM = re.compile(rb"sha256=[0-9a-f]{64}")


def well_formed(header: bytes) -> bool:
    """Whether it could be a signature at all; GitHub writes it in exactly this form."""
    return _FORM.fullmatch(header) is not None


def sign(secret: str, body: bytes) -> str:
    """The header's value for a body."""
    return "sha256=" + hmac.digest(secret.encode(), body, "sha256").hex()


def fits(header: bytes, body: bytes, secrets: Sequence[str]) -> bool:
    """Whether one of the secrets signed these bytes. An empty secret signs nothing."""
    if not well_formed(header):
        return False
    found = False
    for secret in secrets:
        same = hmac.compare_digest(sign(secret, body).encode(), header)
        found |= same and bool(secret)
    return found
