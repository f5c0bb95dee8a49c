"""The host's git: an environment built from nothing, no program of a repository ever runs.

Rules:
- It runs only on repositories that the host owns (mirrors), never in or over a tree that an
  agent could write.
- Repository content reaches the arguments only through the grammars of url.py and refname.py,
  after `--end-of-options`.
- Every call has a deadline that kills the whole process group, and a bound on what it may say.
- Every process carries the data directory's tag, so that a restart finds the ones left behind.
- Who may ask a server is proved over a pipe: login.py.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, Literal

import msgspec

from agent_work_orders.errors import Environmental, TooLarge, Transient
from agent_work_orders.repositories import stale_lock
from agent_work_orders.repositories.failure import classify, lock_path
from agent_work_orders.repositories.login import Login, Logins, Remote, offered, with_login
from agent_work_orders.security.outbound import Outbound

Transport = Literal["https", "http", "ssh", "file"]

OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024
STDERR_LIMIT_BYTES = 256 * 1024
DEFAULT_TIMEOUT_S = 60.0
CHUNK_BYTES = 65_536
SSH_COMMAND = "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout=15"

# Overrides everything that a mirror's or a system's configuration could make git execute.
HARDENING: tuple[str, ...] = tuple(
    part
    for option in (
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "core.pager=cat",
        "core.editor=false",
        "core.alternateRefsCommand=true",
        "core.attributesFile=/dev/null",
        "core.excludesFile=/dev/null",
        "credential.helper=",
        "diff.external=",
        "gc.auto=0",
        "maintenance.auto=false",
        "receive.autogc=false",
        "fetch.writeCommitGraph=false",
        "fetch.fsckObjects=true",
        "receive.fsckObjects=true",
        "transfer.fsckObjects=true",
        "fetch.recurseSubmodules=false",
        "push.recurseSubmodules=no",
        "submodule.recurse=false",
        "submodule.fetchJobs=1",
        "safe.bareRepository=explicit",
        "protocol.version=2",
        "protocol.allow=never",
        "http.followRedirects=false",
        "http.lowSpeedLimit=1000",
        "http.lowSpeedTime=30",
        "commit.gpgSign=false",
        "push.gpgSign=false",
        "log.showSignature=false",
        "core.quotePath=true",
        "color.ui=false",
        "advice.detachedHead=false",
    )
    for part in ("-c", option)
)


class GitResult(msgspec.Struct, frozen=True, kw_only=True):
    exit_code: int
    stdout: bytes
    stderr: bytes
    truncated: bool = False


class Git:
    """Runs the host's git. One for the whole server; it keeps nothing between calls. `logins` may
    be set later: by then, what they need is there."""

    def __init__(
        self,
        *,
        tag: str = "",
        executable: str | None = None,
        logins: Logins | None = None,
        outbound: Outbound | None = None,
    ) -> None:
        found = executable or shutil.which("git")
        if found is None:
            raise Environmental(
                "executable_missing", "git is not installed", hint="Install git 2.38 or newer."
            )
        self.executable = found
        self._tag = tag
        self.logins = logins
        self._outbound = outbound or Outbound()
        self._certificates = _Certificates(self._outbound)
        self._starting = asyncio.Lock()

    def environment(self) -> dict[str, str]:
        env = {
            "PATH": f"{os.path.dirname(self.executable)}:/usr/local/bin:/usr/bin:/bin",
            "HOME": "/nonexistent",
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "/bin/false",
            "SSH_ASKPASS": "/bin/false",
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_SSH_COMMAND": SSH_COMMAND,
        }
        if self._tag:
            env["AWO_HOME_TAG"] = self._tag
        if "SSH_AUTH_SOCK" in os.environ:
            env["SSH_AUTH_SOCK"] = os.environ["SSH_AUTH_SOCK"]
        return env | self._outbound.environment

    async def run(
        self,
        action: str,
        arguments: Sequence[str],
        *,
        repository: Path | None = None,
        transport: Transport | None = None,
        remote: Remote | None = None,
        stdin: bytes | IO[bytes] | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        limit_bytes: int = OUTPUT_LIMIT_BYTES,
        cut: bool = False,
        ok: frozenset[int] = frozenset({0}),
    ) -> GitResult:
        """Run git; `action` completes "git could not …". Past `limit_bytes` of output the process
        is ended: the answer is cut when `cut`, else `git_output_too_large` is raised. `remote` is
        the server that it speaks with, if it is one that may want to know who we are.

        A lock that a dead git left is cleared, and it is run once more. Raises what
        failure.classify says for an exit code not in `ok`, `git_timeout`, and what `Logins` raise.
        """
        command = [self.executable, *HARDENING]
        if transport is not None:
            command += ["-c", f"protocol.{transport}.allow=always"]
        place = ["--git-dir", str(repository)] if repository is not None else []

        async def attempt(login: Login | None, *, last: bool = False) -> GitResult:
            # Starting a program holds the loop until it runs, milliseconds on a busy machine: of
            # many, one at a time, with everybody else's turn in between.
            async with self._starting:
                await asyncio.sleep(0)
                with offered(remote or Remote(url=""), login) as (options, pipes):
                    child = self._start([*command, *options, *place, *arguments], stdin, env, pipes)
            answer = await self._finish(child, action, timeout_s, limit_bytes, cut)
            if answer.exit_code in ok or answer.truncated:
                return answer
            lock = lock_path(answer.stderr)
            # What was read from a file is gone; and whatever reads one takes no lock.
            repeatable = not last and (stdin is None or isinstance(stdin, bytes))
            if repeatable and lock is not None and repository is not None:
                if await stale_lock.clear(repository, Path(lock)):
                    return await attempt(login, last=True)
            raise classify(action, answer.exit_code, answer.stderr)

        if self.logins is None or remote is None:
            return await attempt(None)
        return await with_login(self.logins, remote, attempt)

    def _start(
        self,
        command: Sequence[str],
        stdin: bytes | IO[bytes] | None,
        env: Mapping[str, str] | None,
        pipes: tuple[int, ...],
    ) -> _Child:
        source = _source(stdin)
        try:
            own = {**self.environment(), **self._certificates.environment}
            shared = (*pipes, *self._certificates.descriptors)
            return _Child(command, {**own, **(env or {})}, source, shared)
        finally:
            os.close(source)

    async def _finish(
        self, child: _Child, action: str, timeout_s: float, limit_bytes: int, cut: bool
    ) -> GitResult:
        try:
            async with asyncio.timeout(timeout_s):
                answer = await child.listen(limit_bytes)
        except TimeoutError:
            raise Transient(
                "git_timeout",
                f"git took longer than {timeout_s:.0f} s to {action}",
                hint="The host may be slow or the repository large; it is tried again.",
                action=action,
            ) from None
        finally:
            child.end()
        if answer.truncated and not cut:
            raise TooLarge(
                "git_output_too_large",
                f"git said more than {limit_bytes} bytes while trying to {action}",
                hint="Ask for less: a smaller range, or a single file.",
            )
        return answer


class _Certificates:
    """Those that git is to believe, in a file in memory that it inherits: it knows one file only,
    and a file of ours on disk would have to be kept true. Read at the first use."""

    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound

    @cached_property
    def descriptors(self) -> tuple[int, ...]:
        content = self._outbound.bundle()
        if not content:
            return ()
        fd = os.memfd_create("certificates", os.MFD_CLOEXEC)
        weakref.finalize(self, os.close, fd)
        with open(fd, "wb", closefd=False) as file:
            file.write(content)
        return (fd,)

    @property
    def environment(self) -> dict[str, str]:
        found = self.descriptors
        return {"GIT_SSL_CAINFO": f"/proc/self/fd/{found[0]}"} if found else {}


def _source(stdin: bytes | IO[bytes] | None) -> int:
    """A descriptor to read from. Bytes become a file in memory: no writer can block or break."""
    if stdin is None:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    if not isinstance(stdin, bytes):
        return os.dup(stdin.fileno())
    with os.fdopen(os.memfd_create("stdin", os.MFD_CLOEXEC), "wb") as file:
        file.write(stdin)
        file.seek(0)
        return os.dup(file.fileno())


class _Child:
    """A running git. Plain descriptors on the loop: asyncio's own subprocesses can hang for ever
    when they are cancelled while they start."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        source: int,
        pipes: tuple[int, ...] = (),
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd="/",
            start_new_session=True,
            pass_fds=pipes,
        )
        assert self._process.stdout is not None and self._process.stderr is not None
        self._said = {self._process.stdout.fileno(): bytearray()}
        self._errors = {self._process.stderr.fileno(): bytearray()}
        self._ended = os.pidfd_open(self._process.pid)

    async def listen(self, limit_bytes: int) -> GitResult:
        """What it says until it has ended and closed both pipes, or has said too much."""
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        open_ends = {*self._said, *self._errors, self._ended}
        (stdout,), (stderr,) = self._said.values(), self._errors.values()

        def close(fd: int) -> None:
            loop.remove_reader(fd)
            open_ends.discard(fd)
            if not open_ends or len(stdout) > limit_bytes:
                over.set()

        def hear(fd: int) -> None:
            chunk = os.read(fd, CHUNK_BYTES)
            if fd in self._said:
                stdout.extend(chunk)
            else:
                stderr.extend(chunk)
                del stderr[:-STDERR_LIMIT_BYTES]
            if not chunk or len(stdout) > limit_bytes:
                close(fd)

        for fd in open_ends:
            loop.add_reader(fd, close if fd == self._ended else hear, fd)
        try:
            await over.wait()
        finally:
            for fd in open_ends:
                loop.remove_reader(fd)
        truncated = len(stdout) > limit_bytes
        code = self._process.wait() if not truncated else -signal.SIGKILL
        return GitResult(
            exit_code=code,
            stdout=bytes(stdout[:limit_bytes]),
            stderr=bytes(stderr),
            truncated=truncated,
        )

    def end(self) -> None:
        """The group is dead afterwards, also helpers such as ssh or index-pack."""
        if self._process.poll() is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                self._process.kill()
            self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        os.close(self._ended)
