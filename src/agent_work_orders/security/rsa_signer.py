"""Signatures with an RSA key (RS256)."""

from __future__ import annotations

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key


class RsaSigner:
    def __init__(self, key: rsa.RSAPrivateKey) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "RsaSigner()"

    def sign(self, content: bytes) -> bytes:
        return self._key.sign(content, padding.PKCS1v15(), hashes.SHA256())


def read(pem: str, smallest_bits: int) -> RsaSigner | None:
    """None when the text is no RSA key, or a smaller one."""
    try:
        key = load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    if not isinstance(key, rsa.RSAPrivateKey) or key.key_size < smallest_bits:
        return None
    return RsaSigner(key)
