"""Proving to a git server who we are, without the proof lying about.

Rules:
- A secret is in no argument, address, configuration, environment or file. It waits in a pipe that
  git inherits; git's credential helper is one line of shell that empties the pipe.
- The pipe is asked for one exact origin: by git's own matching of the setting's name, and again by
  the helper, which reads what git asks for. Redirects are not followed (HARDENING in git.py):
  where a repository has moved to is asked for, and only its own server can say so.
- It can be read once. Whoever is asked again has nothing to say, so a refused login is not tried
  twice by git; we ask for another one ourselves, once.
- Only git of the host gets one, never a program in a sandbox.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

from agent_work_orders.errors import Broken, Environmental, Permanent

T = TypeVar("T")

_ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?")
_PLAIN = re.compile(r"[!-~]{1,4096}")


class Login(msgspec.Struct, frozen=True, kw_only=True):
    username: str
    password: str
    address: str = ""
    """Where the repository is now, if it was renamed or transferred: on the same server."""

    def __repr__(self) -> str:
        return f"Login({self.username})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("username", self.username)]


class Remote(msgspec.Struct, frozen=True, kw_only=True):
    """Where git goes, and whether it wants to write there."""

    url: str
    writes: bool = False


class Logins(Protocol):
    async def login(self, url: str, *, writes: bool) -> Login | None:
        """For a repository by its address; None: it is asked without. Environmental when there
        should be one and there is none."""
        ...

    async def refused(self, url: str, login: Login) -> bool:
        """The server did not accept it. Whether asking again may give another one."""
        ...

    async def moved(self, url: str) -> bool:
        """The server sends git elsewhere. Whether it is known to where: then `login` says so."""
        ...

    async def done(self, url: str) -> None:
        """Nobody works with the repository now: logins that were given for it may end."""
        ...


async def with_login(
    logins: Logins, remote: Remote, attempt: Callable[[Login | None], Awaitable[T]]
) -> T:
    """`attempt` with a login, and once more with another when the server refuses it.

    What can be read by everybody is read without a login if there is none; if that does not do,
    why there is none is what people are told.
    """
    lacking: Environmental | None = None
    login: Login | None = None
    try:
        login = await logins.login(remote.url, writes=remote.writes)
    except Environmental as failure:
        if remote.writes:
            raise
        lacking = failure
    try:
        return await attempt(login)
    except Permanent as failure:
        if failure.code == "repository_moved" and await logins.moved(remote.url):
            return await attempt(await logins.login(remote.url, writes=remote.writes))
        if failure.code != "repository_auth_needed":
            raise
        if lacking is not None:
            raise lacking from failure
        if login is None or not await logins.refused(remote.url, login):
            raise
    return await attempt(await logins.login(remote.url, writes=remote.writes))


@contextmanager
def offered(remote: Remote, login: Login | None) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Options for git, and the descriptors that it must inherit. The pipe's end is ours until the
    context ends, which may be as soon as git runs."""
    if login is None:
        yield [], ()
        return
    parts = urlsplit(remote.url)
    origin = f"{parts.scheme}://{parts.netloc}"
    if not (
        _ORIGIN.fullmatch(origin)
        and _PLAIN.fullmatch(login.username)
        and _PLAIN.fullmatch(login.password)
        and (not login.address or _moved_within(login.address, origin))
    ):
        raise Broken(
            "git_login_invalid",
            f"Not an origin or a login that git can be given: {remote.url[:200]}",
            hint="Report this with the order's log.",
        )
    reading, writing = os.pipe2(os.O_CLOEXEC)
    try:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(f"username={login.username}\npassword={login.password}\n".encode())
        helper = _HELPER.format(scheme=parts.scheme, host=parts.netloc, fd=reading)
        options = ["-c", f"credential.{origin}.helper={helper}"]
        if login.address:
            options += ["-c", f"url.{login.address}.insteadOf={remote.url}"]
        yield options, (reading,)
    finally:
        os.close(reading)


def _moved_within(address: str, origin: str) -> bool:
    return address.startswith(f"{origin}/") and _PLAIN.fullmatch(address) is not None


# Names and numbers only are put in; both were checked.
_HELPER = (
    '!f() {{ test "$1" = get || exit 0; s=; h=; while read -r line; do case "$line" in '
    "protocol={scheme}) s=1;; host={host}) h=1;; esac; done; "
    'test "$s$h" = 11 && cat /proc/self/fd/{fd}; }}; f'
)
