"""What git's words on stderr mean. Pure: bytes in, a failure of errors.py out."""

from __future__ import annotations

import re

from agent_work_orders.errors import Environmental, Failed, Permanent, Transient

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_LOCK = re.compile(r"Unable to create '([^']+\.lock)': File exists")
_KILLED = re.compile(r"died of signal (?:9|15)\b")
_MOVED = re.compile(r"returned error: 30[12378]\b")
STDERR_SHOWN = 500


def end_of_stderr(stderr: bytes) -> str:
    """The last words, short, without credentials or control characters."""
    text = _CREDENTIALS.sub("", stderr.decode("utf-8", "replace")).strip()
    clean = "".join(char if char.isprintable() else " " for char in text)
    return clean[-STDERR_SHOWN:]


def lock_path(stderr: bytes) -> str | None:
    found = _LOCK.search(stderr.decode("utf-8", "replace"))
    return None if found is None else found[1]


def _has(text: str, *needles: str) -> bool:
    return any(needle in text for needle in needles)


def classify(action: str, exit_code: int, stderr: bytes) -> Failed:
    """The failure for a git command that ended badly. `action` is what was tried, for people."""
    words = end_of_stderr(stderr)
    text = stderr.decode("utf-8", "replace").lower()
    context = {"action": action, "exit_code": exit_code, "stderr": words}
    return (
        _of_a_kill(action, exit_code, text, context)
        or _of_the_disk(action, text, context)
        or _of_access(action, text, context)
        or _of_push(action, text, context)
        or _of_network(action, text, context)
        or Permanent(
            "git_failed",
            f"git could not {action}: {words or f'exit code {exit_code}'}",
            hint="The words of git above say what it missed.",
            **context,
        )
    )


def _of_a_kill(action: str, exit_code: int, text: str, context: dict[str, object]) -> Failed | None:
    """Our own limits are told before (`git_timeout`): this was the kernel, without memory, or a
    person. A git whose helper was killed says so and ends by itself."""
    if exit_code >= 0 and not _KILLED.search(text):
        return None
    return Transient(
        "git_killed",
        f"git was killed from outside while trying to {action}",
        hint="It is tried again. If that goes on, the machine has too little memory.",
        **context,
    )


def _of_the_disk(action: str, text: str, context: dict[str, object]) -> Failed | None:
    if _has(text, "no space left on device", "disk quota exceeded"):
        return Environmental(
            "disk_full",
            f"No space left to {action}",
            hint="Free space on the data directory's disk; the work continues by itself.",
            **context,
        )
    if _has(text, ".lock': file exists"):
        return Transient(
            "git_locked",
            f"Another git process holds a lock needed to {action}",
            hint="Wait for it to end; a lock of a dead process is removed at the next try.",
            **context,
        )
    if _has(
        text,
        "is corrupt",
        "bad object",
        "missing blob",
        "missing tree",
        "missing commit",
        "unable to read sha1",
        "unable to read tree",
        "could not read",
        "inflate: data stream error",
        "object file",
        "did not send all necessary objects",
        "packfile",
        "bad tree object",
        "not a valid object",
        "unable to parse",
    ) and not _has(
        text, "could not read from remote", "could not read username", "could not read password"
    ):
        return Environmental(
            "mirror_corrupt",
            f"The stored copy of the repository is damaged (while trying to {action})",
            hint="It is fetched anew once by itself; if that fails too, check the disk.",
            **context,
        )
    return None


def _of_access(action: str, text: str, context: dict[str, object]) -> Failed | None:
    if _has(
        text,
        "could not read username",
        "could not read password",
        "authentication failed",
        "permission denied (publickey",
        "terminal prompts disabled",
        "host key verification failed",
        "http 401",
        "error: 401",
        "error: 403",
    ):
        return Permanent(
            "repository_auth_needed",
            f"The repository wants credentials to {action}",
            hint="Configure access for this repository, or use one that is readable without.",
            **context,
        )
    if _MOVED.search(text):
        return Permanent(
            "repository_moved",
            f"The repository has another address by now (while trying to {action})",
            hint="Create the order again with the new address.",
            **context,
        )
    if _has(text, "dubious ownership"):
        return Environmental(
            "repository_owner",
            "The repository belongs to another user of this machine",
            hint="Run the server as that user, or change the owner of the repository.",
            **context,
        )
    if _has(
        text,
        "does not appear to be a git repository",
        "not a git repository",
        "not a gitdir",
    ):
        return Permanent(
            "not_a_repository",
            "There is no git repository at this address",
            hint="Check the address; for a path, give the folder that contains .git.",
            field="repository_url",
            **context,
        )
    if _has(
        text, "repository not found", "not found", "does not exist", "no such file or directory"
    ):
        return Permanent(
            "repository_not_found",
            "The repository does not exist or is not visible",
            hint="Check the address and the access rights.",
            field="repository_url",
            **context,
        )
    return None


def _of_push(action: str, text: str, context: dict[str, object]) -> Failed | None:
    if _has(text, "stale info", "non-fast-forward", "fetch first", "[rejected]"):
        return Permanent(
            "remote_changed",
            "The remote branch has commits that are not ours",
            hint="Look at the branch on the remote; nothing of it was overwritten.",
            **context,
        )
    if _has(
        text, "protected branch", "gh006", "push protection", "gh013", "gh009", "refusing to allow"
    ):
        return Permanent(
            "push_protected",
            "The remote refuses this push by a protection rule",
            hint="Read the rule named in the remote's answer; another branch name may be allowed.",
            **context,
        )
    if _has(text, "[remote rejected]", "pre-receive hook declined", "remote unpack failed"):
        return Permanent(
            "push_rejected",
            f"The remote refused to {action}",
            hint="The remote's answer says why (a hook, a size limit or a checked-out branch).",
            **context,
        )
    return None


def _of_network(action: str, text: str, context: dict[str, object]) -> Failed | None:
    if _has(
        text,
        "could not resolve host",
        "connection refused",
        "connection timed out",
        "network is unreachable",
        "failed to connect",
        "couldn't connect",
        "connection reset",
        "early eof",
        "the remote end hung up",
        "rpc failed",
        "gnutls_handshake",
        "operation too slow",
        "error: 5",
        "could not read from remote repository",
    ):
        return Transient(
            "repository_unreachable",
            f"The repository's host cannot be reached to {action}",
            hint="Check the network; it is tried again.",
            **context,
        )
    return None
