"""The key of a GitHub App, and the short proof (a JWT) that is made with it."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import msgspec

from agent_work_orders.errors import Refused
from agent_work_orders.security import rsa_signer

BACK_S = 30
"""Our clock may be a little ahead."""
LIFE_S = 540
"""Ten minutes are allowed; a clock may be a little behind."""
FRESH_MS = 240_000
SMALLEST_BITS = 2_048


class AppKey:
    def __init__(self, app_id: int | str, pem: str) -> None:
        """Refused `setting_invalid` when the text is no RSA key."""
        self.app_id = app_id
        signer = rsa_signer.read(pem, SMALLEST_BITS)
        if signer is None:
            raise Refused(
                "setting_invalid",
                f"GITHUB_PRIVATE_KEY: not an RSA key of at least {SMALLEST_BITS} bits",
                hint="Generate a private key in the App's settings and use that file.",
                field="GITHUB_PRIVATE_KEY",
            )
        self._signer = signer
        self._made: tuple[int, str] = (0, "")

    def __repr__(self) -> str:
        return f"AppKey({self.app_id})"

    def proof(self, now_ms: int, *, anew: bool = False) -> str:
        """A JWT for now; used again for a while, signing is slow."""
        at_ms, kept = self._made
        if kept and not anew and 0 <= now_ms - at_ms < FRESH_MS:
            return kept
        now_s = now_ms // 1000
        claims = {"iat": now_s - BACK_S, "exp": now_s + LIFE_S, "iss": str(self.app_id)}
        signed = _part({"alg": "RS256", "typ": "JWT"}) + "." + _part(claims)
        signature = self._signer.sign(signed.encode())
        made = f"{signed}.{_encoded(signature)}"
        self._made = (now_ms, made)
        return made


def _part(value: Mapping[str, object]) -> str:
    return _encoded(msgspec.json.encode(value))


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
