"""An App's JSON web token, read as GitHub reads it. Pure: text in, the issuer out.

Rules (docs: "Generating a JSON Web Token (JWT) for a GitHub App"):
- RS256 and nothing else; `alg: none` or an HMAC over the public key is no signature.
- `iat` and `exp` are whole seconds. `iat` may not be in the future at all: clients are told to set
  it 60 seconds back, and one that does not is refused as soon as its clock is ahead.
- `exp` is in the future, by 10 minutes at most.
- `iss` is the App's id or its client id.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

MOST_AHEAD_S = 600
TOKEN_LIMIT_BYTES = 8_192
KEY_BITS = 2048

NOT_DECODED = "A JSON web token could not be decoded"
BAD_EXP = (
    "'Expiration time' claim ('exp') must be a numeric value representing the future time at which "
    "the assertion expires"
)
FAR_EXP = "'Expiration time' claim ('exp') is too far in the future"
BAD_IAT = (
    "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was "
    "issued"
)
NO_ISS = "Missing 'issuer' claim ('iss')"
UNKNOWN_ISS = "Integration not found"

PublicKeyOf = Callable[[str], str | None]
"""The PEM of the App whose id or client id this is."""


class Unreadable(Exception):
    """Not a token that GitHub accepts: 401, or 404 for an App that does not exist."""

    def __init__(self, message: str, status: int = 401) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


def looks_like(token: str) -> bool:
    return token.count(".") == 2 and token.startswith("ey")


def issuer(token: str, public_key_of: PublicKeyOf, now_ms: int) -> str:
    """Who signed it. Raises `Unreadable`."""
    if len(token) > TOKEN_LIMIT_BYTES:
        raise Unreadable(NOT_DECODED)
    try:
        head, claims, signature = (_part(part) for part in token.split("."))
        header, payload = msgspec.json.decode(head), msgspec.json.decode(claims)
    except (ValueError, msgspec.DecodeError):
        raise Unreadable(NOT_DECODED) from None
    if not isinstance(header, dict) or not isinstance(payload, dict):
        raise Unreadable(NOT_DECODED)
    if header.get("alg") != "RS256":
        raise Unreadable(NOT_DECODED)
    name = payload.get("iss")
    if not isinstance(name, str | int) or isinstance(name, bool) or name == "":
        raise Unreadable(NO_ISS)
    pem = public_key_of(str(name))
    if pem is None:
        raise Unreadable(UNKNOWN_ISS, status=404)
    _verify(pem, token.rpartition(".")[0].encode("ascii"), signature)
    _check_times(payload, now_ms)
    return str(name)


def _verify(pem: str, signed: bytes, signature: bytes) -> None:
    key = serialization.load_pem_public_key(pem.encode("ascii"))
    assert isinstance(key, rsa.RSAPublicKey)
    try:
        key.verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        raise Unreadable(NOT_DECODED) from None


def _check_times(payload: dict[str, Any], now_ms: int) -> None:
    expires, issued = payload.get("exp"), payload.get("iat")
    if not isinstance(expires, int | float) or isinstance(expires, bool):
        raise Unreadable(BAD_EXP)
    if expires * 1000 <= now_ms:
        raise Unreadable(BAD_EXP)
    if expires * 1000 > now_ms + MOST_AHEAD_S * 1000:
        raise Unreadable(FAR_EXP)
    if not isinstance(issued, int) or isinstance(issued, bool) or issued * 1000 > now_ms:
        raise Unreadable(BAD_IAT)


def _part(text: str) -> bytes:
    """Base64url without padding, strictly."""
    if "=" in text or not text.isascii():
        raise ValueError("not base64url")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("not base64url") from error


def new_key_pair() -> tuple[str, str]:
    """A private key as GitHub gives it out (PKCS#1 PEM), and the public one that it keeps."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode("ascii"), public.decode("ascii")


def sign(private_pem: str, claims: dict[str, Any], header: dict[str, Any] | None = None) -> str:
    """What an App does; for tests and for people who try the simulator by hand."""
    key = serialization.load_pem_private_key(private_pem.encode("ascii"), password=None)
    assert isinstance(key, rsa.RSAPrivateKey)
    head = {"alg": "RS256", "typ": "JWT", **(header or {})}
    signed = f"{_base64url(msgspec.json.encode(head))}.{_base64url(msgspec.json.encode(claims))}"
    signature = key.sign(signed.encode("ascii"), padding.PKCS1v15(), hashes.SHA256())
    return f"{signed}.{_base64url(signature)}"


def fresh(private_pem: str, issuer: int | str, now_ms: int) -> str:
    """A token as the documents advise: issued 60 seconds ago, for less than 10 minutes."""
    now_s = now_ms // 1000
    return sign(private_pem, {"iat": now_s - 60, "exp": now_s + 540, "iss": str(issuer)})


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")
