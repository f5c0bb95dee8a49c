"""The host's git: an environment built from nothing, no program of a repository ever runs.

Rules:
- It runs only on repositories that the host owns (mirrors), never in or over a tree that an
  agent could write.
- Repository content reaches the arguments only through the grammars of url.py and refname.py,
  after `--end-of-options`.
- Every call has a deadline that kills the whole process group, and a bound on what it may say.
- Every process carries the data directory's tag, so that a restart finds the ones left behind.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

import msgspec

from agent_work_orders.errors import Environmental, TooLarge, Transient
from agent_work_orders.repositories.failure import classify

Transport = Literal["https", "http", "ssh", "file"]

OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024
STDERR_LIMIT_BYTES = 256 * 1024
DEFAULT_TIMEOUT_S = 60.0
KILL_WAIT_S = 5.0
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


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    exit_code: int
    stdout: bytes
    stderr: bytes
    truncated: bool = False


class Git:
    """Runs the host's git. One for the whole server; it keeps nothing between calls."""

    def __init__(self, *, tag: str = "", executable: str | None = None) -> None:
        found = executable or shutil.which("git")
        if found is None:
            raise Environmental(
                "executable_missing", "git is not installed", hint="Install git 2.38 or newer."
            )
        self.executable = found
        self._tag = tag

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
        return env

    async def run(
        self,
        action: str,
        arguments: Sequence[str],
        *,
        repository: Path | None = None,
        transport: Transport | None = None,
        stdin: bytes | IO[bytes] | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        limit_bytes: int = OUTPUT_LIMIT_BYTES,
        cut: bool = False,
        ok: frozenset[int] = frozenset({0}),
    ) -> Answer:
        """Run git; `action` completes "git could not …". Past `limit_bytes` of output the process
        is ended: the answer is cut when `cut`, else `git_output_too_large` is raised.

        Raises what failure.classify says for an exit code not in `ok`, and `git_timeout`.
        """
        command = [self.executable, *HARDENING]
        if transport is not None:
            command += ["-c", f"protocol.{transport}.allow=always"]
        if repository is not None:
            command += ["--git-dir", str(repository)]
        process = await asyncio.create_subprocess_exec(
            *command,
            *arguments,
            stdin=_stdin(stdin),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**self.environment(), **(env or {})},
            cwd="/",
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(timeout_s):
                answer = await _converse(
                    process, stdin if isinstance(stdin, bytes) else None, limit_bytes
                )
        except TimeoutError:
            raise Transient(
                "git_timeout",
                f"git took longer than {timeout_s:.0f} s to {action}",
                hint="The host may be slow or the repository large; it is tried again.",
                action=action,
            ) from None
        finally:
            await _end(process)
        if answer.truncated:
            if cut:
                return answer
            raise TooLarge(
                "git_output_too_large",
                f"git said more than {limit_bytes} bytes while trying to {action}",
                hint="Ask for less: a smaller range, or a single file.",
            )
        if answer.exit_code not in ok:
            raise classify(action, answer.exit_code, answer.stderr)
        return answer


def _stdin(stdin: bytes | IO[bytes] | None) -> int | IO[bytes]:
    if stdin is None:
        return asyncio.subprocess.DEVNULL
    return asyncio.subprocess.PIPE if isinstance(stdin, bytes) else stdin


async def _converse(
    process: asyncio.subprocess.Process, stdin: bytes | None, limit_bytes: int
) -> Answer:
    assert process.stdout is not None and process.stderr is not None
    feeding = asyncio.ensure_future(_feed(process, stdin))
    errors = asyncio.ensure_future(_drain(process.stderr, STDERR_LIMIT_BYTES))
    try:
        stdout, truncated = await _read(process.stdout, limit_bytes)
        if truncated:
            _kill(process)
        await feeding
        stderr = await errors
        code = await process.wait()
    finally:
        feeding.cancel()
        errors.cancel()
    return Answer(exit_code=code, stdout=stdout, stderr=stderr, truncated=truncated)


async def _feed(process: asyncio.subprocess.Process, stdin: bytes | None) -> None:
    if stdin is None or process.stdin is None:
        return
    try:
        process.stdin.write(stdin)
        await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()
    except (BrokenPipeError, ConnectionResetError):
        return


async def _read(stream: asyncio.StreamReader, limit_bytes: int) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    size = 0
    while chunk := await stream.read(65_536):
        parts.append(chunk)
        size += len(chunk)
        if size > limit_bytes:
            return b"".join(parts)[:limit_bytes], True
    return b"".join(parts), False


async def _drain(stream: asyncio.StreamReader, keep_bytes: int) -> bytes:
    kept = b""
    while chunk := await stream.read(65_536):
        kept = (kept + chunk)[-keep_bytes:]
    return kept


def _kill(process: asyncio.subprocess.Process) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


async def _end(process: asyncio.subprocess.Process) -> None:
    """The group is dead afterwards, also helpers such as ssh or index-pack."""
    if process.returncode is None:
        _kill(process)
        await asyncio.shield(asyncio.wait_for(process.wait(), KILL_WAIT_S))
