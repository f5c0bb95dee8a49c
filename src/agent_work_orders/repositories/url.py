"""What may be given as a repository: a grammar, not a check of the world.

Rules: https and ssh to a plain host name, the `git@host:path` short form, or a local path.
Everything that git would hand to another program or option parser is refused here, and again by
the runner's `protocol.allow=never`. Addresses, ports and plain http need an origin that the
operator allowed.
"""

from __future__ import annotations

import hashlib
import os.path
import re
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from agent_work_orders.errors import Refused

Kind = Literal["https", "http", "ssh", "path"]

MAX_LENGTH = 2048

_HOST = re.compile(
    r"(?=.{1,253}\Z)[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})?(?:\.[A-Za-z0-9][A-Za-z0-9-]*)*"
)
_IPV4 = re.compile(r"[0-9.]+|0[xX][0-9a-fA-F]+")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_SCP = re.compile(r"(?:(?P<user>[^@/:]*)@)?(?P<host>[^@/:]+):(?!:)(?P<path>.*)")
_REMOTE_PATH = re.compile(r"[A-Za-z0-9_.~%+@/-]+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class RepositoryUrl(msgspec.Struct, frozen=True, kw_only=True):
    """`key` names the mirror's directory; `display` is what people are shown."""

    kind: Kind
    url: str
    key: str
    display: str


def parse(text: str, *, cwd: str = "/", origins: frozenset[str] = frozenset()) -> RepositoryUrl:
    """Read a repository URL or path. `cwd` makes relative paths absolute; `origins` are the exact
    `scheme://host:port` that the operator allowed besides the rules.

    Refused: `repository_url_invalid`, `repository_url_scheme`, `repository_url_credentials`,
    `repository_url_host`.
    """
    _plain_text(text)
    if text.startswith("-"):
        raise _invalid("a repository may not start with '-'")
    if "::" in text.split("/", 1)[0]:
        raise _scheme(text.split("::", 1)[0] + "::")
    lowered = text.lower()
    if lowered.startswith("file:"):
        raise Refused(
            "repository_url_scheme",
            "file:// addresses are not accepted",
            hint="Give the path itself, for example /srv/project.git.",
            field="repository_url",
        )
    if "://" in text:
        return _network(text, origins)
    if text.startswith(("/", "./", "../", "~")) or text in (".", ".."):
        return _path(text, cwd)
    short = _SCP.fullmatch(text)
    if short is not None:
        if short["user"] is None and _SCHEME.match(text) and "." not in short["host"]:
            raise _scheme(short["host"] + ":")
        return _short(short["user"], short["host"], short["path"], text)
    return _path(text, cwd)


def again(text: str) -> RepositoryUrl:
    """What `parse` accepted when an order was made, read again: its origin was allowed then."""
    parts = urlsplit(text) if "://" in text else None
    origins = frozenset({f"{parts.scheme}://{parts.netloc}"} if parts is not None else ())
    return parse(text, origins=origins)


def _plain_text(text: str) -> None:
    if not text or len(text) > MAX_LENGTH:
        raise _invalid("the repository is empty or too long")
    if any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in text):
        raise _invalid("the repository contains control characters")
    if text != text.strip():
        raise _invalid("the repository starts or ends with white space")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _invalid("the repository is not valid text") from None


def _network(text: str, origins: frozenset[str]) -> RepositoryUrl:
    try:
        parts = urlsplit(text)
        port = parts.port
        host = parts.hostname or ""
    except ValueError:
        raise _invalid("the address cannot be read") from None
    scheme = parts.scheme.lower()
    if scheme not in ("https", "http", "ssh"):
        raise _scheme(f"{scheme}://")
    if parts.password is not None or (scheme != "ssh" and parts.username is not None):
        raise Refused(
            "repository_url_credentials",
            "a repository address may not carry a user or a password",
            hint="Remove the part before '@'; credentials are configured apart from the address.",
            field="repository_url",
        )
    if parts.query or parts.fragment or "?" in text or "#" in text:
        raise _invalid("a repository address has no query or fragment")
    if parts.username is not None and not _USER.fullmatch(parts.username):
        raise _invalid("the user part is not a plain name")
    authority = host if port is None else f"{host}:{port}"
    if f"{scheme}://{authority}" not in origins:
        _public_host(host)
        if port is not None:
            raise _host("an address with a port", "Ask the operator to allow this exact origin.")
        if scheme == "http":
            raise _scheme("http://")
    path = _remote_path(parts.path)
    user = f"{parts.username}@" if scheme == "ssh" and parts.username else ""
    url = f"{scheme}://{user}{authority}{path}"
    kind: Kind = "ssh" if scheme == "ssh" else "http" if scheme == "http" else "https"
    return _made(kind, url, authority + path)


def _short(user: str | None, host: str, path: str, text: str) -> RepositoryUrl:
    if user is not None and not _USER.fullmatch(user):
        raise _invalid("the user part is not a plain name")
    _public_host(host)
    clean = _remote_path("/" + path.removeprefix("/"))
    prefix = f"{user}@" if user else ""
    # Kept in the short form: there a path without a slash starts at the home directory.
    return _made("ssh", f"{prefix}{host.lower()}:{path}", host.lower() + clean)


def _path(text: str, cwd: str) -> RepositoryUrl:
    if text.startswith("~"):
        raise _invalid("'~' is not expanded here: give the full path")
    absolute = os.path.normpath(os.path.join(cwd, text))
    if absolute.startswith("//"):
        absolute = absolute[1:]
    if absolute == "/":
        raise _invalid("the root directory is not a repository")
    return _made("path", absolute, absolute)


def _remote_path(path: str) -> str:
    clean = path.rstrip("/")
    if len(clean) < 2 or not clean.startswith("/"):
        raise _invalid("the address names no repository")
    segments = clean[1:].split("/")
    bad = any(part in ("", ".", "..") or part.startswith("-") for part in segments)
    if bad or not _REMOTE_PATH.fullmatch(clean) or "%00" in clean or "%2e%2e" in clean.lower():
        raise _invalid("the path of the address has characters that are not allowed")
    return clean


def _public_host(host: str) -> None:
    if not host:
        raise _invalid("the address names no host")
    if not host.isascii() or not _HOST.fullmatch(host):
        raise _host("a host with unusual characters", "Use the plain ASCII name of the host.")
    if _IPV4.fullmatch(host) or host.rsplit(".", 1)[-1].isdigit():
        raise _host(
            "a numeric address",
            "Use a host name, or ask the operator to allow it (AWO_GIT_ORIGINS).",
        )


def _made(kind: Kind, url: str, canonical: str) -> RepositoryUrl:
    identity = canonical.removesuffix(".git") if kind != "path" else canonical
    scope = "path" if kind == "path" else "net"
    digest = hashlib.sha256(f"{scope}\0{identity}".encode()).hexdigest()[:16]
    name = identity.rstrip("/").rsplit("/", 1)[-1].lower()
    slug = re.sub(r"[^a-z0-9]+", "-", name).strip("-")[:40] or "repository"
    return RepositoryUrl(kind=kind, url=url, key=f"{slug}-{digest}", display=url)


def _invalid(why: str) -> Refused:
    return Refused(
        "repository_url_invalid",
        f"Not a repository: {why}",
        hint="Give https://host/owner/name, git@host:owner/name, or a path.",
        field="repository_url",
    )


def _scheme(scheme: str) -> Refused:
    return Refused(
        "repository_url_scheme",
        f"Repositories cannot be reached by {scheme[:40]!r}",
        hint="Use https://, ssh://, git@host:path or a local path.",
        field="repository_url",
    )


def _host(what: str, hint: str) -> Refused:
    return Refused(
        "repository_url_host",
        f"The repository's address has {what}",
        hint=hint,
        field="repository_url",
    )
