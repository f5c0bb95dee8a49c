"""The contract of a sandbox.

A failing command is a value (`Execution`); being unable to run it is an exception
(`errors.Environmental`, codes below). All methods are safe to call again after a crash.

Codes: `sandbox_setup_failed`, `sandbox_lost` (the workspace is gone), `sandbox_busy`,
`executable_missing`, `path_outside_workspace` (Refused), `file_too_large` (Refused).
"""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from agent_work_orders.errors import Environmental
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType
from agent_work_orders.sandbox_manager.workspace_lock import WorkspaceLocks

Ended = Literal["exited", "timed_out", "cancelled", "idle"]
Status = Literal["PROVISIONING", "ACTIVE", "TERMINATED", "FAILED"]

# An agent may print without end: past this the head and the tail are kept and `truncated` is set.
OUTPUT_LIMIT_BYTES = 8 * 1024 * 1024


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What to set up. `order_id` tags every process; `base_sha` is what HEAD becomes."""

    order_id: str
    part: str = ""
    """Which of the order's sandboxes: empty where its agents work; the others have files,
    processes and a life of their own, and no agent ever enters them."""
    sandbox_type: SandboxType
    repository: str
    """Key of the repository's mirror."""
    base_sha: str
    branch: str
    base_branch: str = ""
    """What the order started from: programs of the order find it by this name, as `main...HEAD`
    needs it, with the tags that belong to its history."""
    started_from: str = ""
    """Its commit, unless the mirror says that the order was rebased since."""
    expires_at_ms: int | None = None
    origin: str = ""
    """The path of a repository on this machine; no program of the order may write there."""

    @property
    def name(self) -> str:
        """Of the sandbox among all others."""
        return sandbox_name(self.order_id, self.part)


def sandbox_name(order_id: str, part: str) -> str:
    return f"{order_id}.{part}" if part else order_id


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """What a command did. `exit_code` is None when a signal or a limit ended it."""

    ended: Ended
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int
    truncated: bool
    duration_s: float

    @property
    def success(self) -> bool:
        return self.ended == "exited" and self.exit_code == 0


class LeftOut(msgspec.Struct, frozen=True):
    """How many untracked files and folders were not committed, and the first names."""

    count: int = 0
    names: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """The names, with how many more there are."""
        more = self.count - len(self.names)
        return [*self.names, f"and {more} more"] if more > 0 else list(self.names)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """SB4: what is known about a sandbox, also after it is gone."""

    sandbox_identifier: str
    order_id: str
    part: str = ""
    sandbox_type: str
    status: Status
    agent_id: str | None = None
    task_id: str | None = None
    container_id: str | None = None
    connection: dict[str, Any] = {}
    created_at_ms: int
    expires_at_ms: int


class State(msgspec.Struct, frozen=True, kw_only=True):
    """`workspace` says where it is, in words for people: not a path that the host may use."""

    exists: bool
    workspace: str | None
    head_sha: str | None
    disk_bytes: int | None


class Isolation(msgspec.Struct, frozen=True, kw_only=True):
    """What a type protects, in words for people: shown by the API, the CLI and `doctor`."""

    files: str
    processes: str
    network: str
    credentials: str
    summary: str


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """One outside that programs reach at an address inside, with a token that opens only it."""

    url: str
    token: str


class WayOut(msgspec.Struct, frozen=True, kw_only=True):
    """How programs reach outside where nothing else leads out. `environment` is in every program's
    already; `services` are by name."""

    environment: Mapping[str, str] = {}
    services: Mapping[str, Service] = {}


Output = Callable[[Literal["stdout", "stderr"], bytes], Future[None] | None]
"""Called on the event loop with each chunk as it comes; must return quickly. With a future it asks
for no more of that stream before the future is done: the program waits then. Some more may come all
the same, at the end at least."""


class Sandbox(Protocol):
    """One order's place to work. Created by a `Sandboxes` factory; not shared by two orders.

    Whoever calls holds its lock (`Sandboxes.locks`): shared to execute, to read and to write a
    file; alone for all else, which changes the whole workspace. Nothing here takes it.
    """

    sandbox_identifier: str
    sandbox_type: SandboxType

    @property
    def way_out(self) -> WayOut | None:
        """None: programs use this machine's own network, and nothing is added to what they send."""
        ...

    async def setup(self) -> None:
        """Make the workspace at the spec's base, or adopt the one that is there after a restart.

        Atomic: after a crash inside it, the next `setup` starts anew. ACTIVE only after a
        command has run inside (health check); a half-made one is removed and FAILED recorded.
        """
        ...

    async def checkout(self, sha: str, *, files: str | None = None) -> None:
        """Reset the workspace to a commit of the mirror: tracked files as committed, untracked
        and ignored files removed. The `.git` is made anew when the agent broke it. With `files`
        the files are those of that other commit, as if somebody had edited `sha` to be so. Nobody
        holds it afterwards."""
        ...

    async def hold(self, work: str) -> None:
        """Say, durably, whose unfinished work the files are from now on; empty: nobody's."""
        ...

    async def holder(self) -> str:
        """Who said so last, since the last checkout."""
        ...

    async def head(self) -> str | None:
        """The commit that the workspace was last checked out at or committed to."""
        ...

    async def execute(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout_s: float = 300.0,
        idle_s: float | None = None,
        on_output: Output | None = None,
        cwd: str = ".",
    ) -> Execution:
        """Run a program in the workspace under the supervisor, as the order's own user. `cwd` is
        reached through no link.

        Argv only, never a shell line. The environment is built from nothing: PATH, HOME (private
        to the order, kept between calls), LANG, TMPDIR, AWO_ORDER_ID, and `env`. When the call
        ends by any way (exit, timeout, cancellation of the awaiting task, our own death) every
        process it started is dead, also daemons with their own session: SIGTERM, then SIGKILL
        within 3 s. Output past OUTPUT_LIMIT_BYTES is dropped from the middle, and costs no memory.
        """
        ...

    async def read_file(self, path: str, *, limit_bytes: int = 1_048_576) -> bytes:
        """A file of the workspace. Symbolic links are not followed, in no component."""
        ...

    async def write_file(self, path: str, content: bytes) -> None:
        """Write a file (0644) owned by the agent's user, making folders; links are not followed."""
        ...

    async def put_private(self, name: str, content: bytes) -> str:
        """Write a file (0600, the agent's user) into the order's private home and return its
        absolute path as programs of the sandbox see it. Never part of the workspace, so it can
        never be committed. `name` is one path component; writing it again replaces it."""
        ...

    async def empty_private(self) -> None:
        """Home and temporary files begin anew: what programs left outside of the work tree goes."""
        ...

    async def commit(
        self,
        message: str,
        *,
        author: str,
        at_ms: int,
        left_out: Callable[[LeftOut], None] = lambda _found: None,
    ) -> str | None:
        """Commit everything in the workspace on top of the last `checkout` and import it.

        Runs git inside, as the agent's user, then brings the objects to the host's mirror as data
        (bundle, fsck) and returns the sha there; None when the tree is unchanged. Exactly one
        commit on the checked-out parent results, whatever the agent did to history, HEAD or
        `.git`; what it had committed itself is squashed. `message` carries the trailers.
        What builds and tests leave behind and the parent does not track stays in the workspace;
        `left_out` is told of it, also when nothing else changed.
        """
        ...

    async def state(self) -> State:
        """With its size, which takes a walk through all of its files."""
        ...

    async def snapshot(self, name: str) -> str:
        """Keep the present tree under a name in the mirror; returns its sha. Moves nothing."""
        ...

    async def interrupt(self) -> None:
        """Kill every program that runs inside, also git's. Calls that wait for one see it ended by
        a signal, or Transient `supervisor_lost`. The only call here for which nobody has to hold
        the lock: it makes others leave."""
        ...

    async def cleanup(self) -> None:
        """Kill what is left, remove the workspace, record TERMINATED. Repeating is harmless."""
        ...


@runtime_checkable
class Attachable(Protocol):
    """What a sandbox can do whose programs may have a terminal; not every type can."""

    async def attach(
        self,
        argv: Sequence[str],
        terminal: int,
        *,
        env: Mapping[str, str] | None = None,
        timeout_s: float,
    ) -> Execution:
        """As `execute`, in the same lock, with the descriptor of a terminal as stdin, stdout and
        stderr, which is the program's controlling terminal then. It stays the caller's, as what
        is printed does: the `Execution` has none of it."""
        ...


class Sandboxes(Protocol):
    """The factory and the register."""

    locks: WorkspaceLocks
    """Of every sandbox, by the name in its spec. `reap` and `discard` take them; no other lock
    guards a workspace."""
    unremoved: list[str]
    """What the last `reap` could not remove, by its identifier; the next one tries again."""

    def isolation(self, sandbox_type: SandboxType) -> Isolation: ...

    async def problem(self, sandbox_type: SandboxType) -> Environmental | None:
        """Why none of this type can be made here; None when one can. Found out by making one, at
        the first question."""
        ...

    def open(self, spec: Spec) -> Sandbox:
        """The sandbox of an order; nothing is made before its `setup`."""
        ...

    async def found(self, order_id: str, part: str = "") -> Sandbox | None:
        """One that was made before, also by an earlier server, whatever became of it; None when
        there never was one. Nothing is started for it."""
        ...

    async def start(self) -> None:
        """Make ready early, so that the first sandbox does not have to wait for it."""
        ...

    async def sweep(self) -> int:
        """Kill every process of a previous server by its order tag, before anything is retried.
        Returns how many. Touches only processes carrying this data directory's tag."""
        ...

    async def reap(self, open_orders: set[str], now_ms: int) -> list[str]:
        """Clean up sandboxes that are expired or whose order is not open. Returns identifiers; one
        that cannot be removed stops nothing and stands in `unremoved`."""
        ...

    async def orders(self) -> list[str]:
        """The orders of which there is anything here, also what an earlier server made."""
        ...

    async def set_aside(self, order_id: str) -> list[str]:
        """Move everything of an order out of the way, untouched: nothing uses or removes it any
        more. Says, in words for people, where it is now."""
        ...

    async def discard(self, order_id: str) -> bool:
        """Clean up every sandbox of an order, also what an earlier server made. Whether there was
        any."""
        ...

    async def state(self, order_id: str, part: str = "") -> State:
        """Of a sandbox, also one that an earlier server made. Quick, so without its size; nothing
        is started for it."""
        ...

    async def records(self) -> list[Record]: ...

    def close(self) -> None:
        """End everything that runs; what was made stays for the next server."""
        ...
