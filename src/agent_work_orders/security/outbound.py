"""How the server itself reaches outside, where its operator said so: through which proxy, to whom
without one, and whose certificates are good beside the system's.

What programs read from their environment without being asked (`HTTPS_PROXY`) does not count: a
credential goes only where somebody meant it to go.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Outbound(msgspec.Struct, frozen=True, kw_only=True):
    proxy: str = ""
    """`http://[user:password@]host:port`; for https addresses only."""
    no_proxy: tuple[str, ...] = ()
    """Hosts that are reached without it; `.example.org` is all below that name."""
    certificates: str = ""
    """The path of a PEM file."""

    def proxy_to(self, url: str) -> str:
        """The proxy for an address; empty for none."""
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        direct = any(_covers(rule.lower(), host) for rule in (*LOOPBACK, *self.no_proxy))
        return "" if direct or parts.scheme != "https" else self.proxy

    def trusted(self) -> ssl.SSLContext:
        """Reading the system's certificates takes some milliseconds."""
        context = ssl.create_default_context()
        if self.certificates:
            context.load_verify_locations(cafile=self.certificates)
        return context

    def bundle(self) -> bytes:
        """The system's authorities with the further ones, for programs that want one file of all.
        Empty without further ones."""
        if not self.certificates:
            return b""
        paths = ssl.get_default_verify_paths()
        system = Path(paths.cafile or paths.openssl_cafile)
        theirs = system.read_bytes() if system.is_file() else b""
        return theirs + b"\n" + Path(self.certificates).read_bytes()

    @property
    def secrets(self) -> tuple[str, ...]:
        password = urlsplit(self.proxy).password or ""
        return (password, unquote(password))

    @property
    def environment(self) -> dict[str, str]:
        """As most programs understand it."""
        if not self.proxy:
            return {}
        return {"HTTPS_PROXY": self.proxy, "NO_PROXY": ",".join((*LOOPBACK, *self.no_proxy))}


def _covers(rule: str, host: str) -> bool:
    if rule == "*":
        return True
    return host.endswith(rule) if rule.startswith(".") else host == rule
