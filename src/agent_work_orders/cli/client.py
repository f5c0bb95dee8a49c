"""The one seam between commands and the product: a server that owns the data, or this process.

Everything that crosses it is JSON, named as on the wire, so that a command cannot tell the
difference and `--json` prints the same either way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import msgspec

from agent_work_orders import settings as setting
from agent_work_orders.cli.outcome import Again, Told
from agent_work_orders.cli.patch import Patch
from agent_work_orders.errors import Conflict
from agent_work_orders.state_manager import lock

if TYPE_CHECKING:
    from agent_work_orders.cli.keyboard import Keyboard
    from agent_work_orders.cli.over_http import OverHttp

Opened = TypeVar("Opened")
Json = dict[str, Any]
Verb = Literal["cancel", "pause", "resume", "rollback"]
Output = Callable[[Literal["stdout", "stderr"], bytes], None]


class Looker(Protocol):
    """What can be asked. Failures are `errors.Refused` and its kin, or `Told`."""

    remote: bool
    """Whether another process does the work."""

    async def check(self, order: Json) -> None:
        """Refuse what `create` would refuse, and change nothing."""
        ...

    async def orders(self, **wanted: Any) -> Json: ...

    async def order(self, wanted: str) -> Json: ...

    async def watch(self, wanted: str) -> tuple[Json, list[Json]]:
        """The order and its tasks as they are now; asked often."""
        ...

    async def tasks(self, wanted: str) -> list[Json]: ...

    async def logs(
        self, wanted: str, *, limit: int, offset: int, level: str | None = None
    ) -> Json: ...

    async def transcript(
        self, wanted: str, task: str | None, *, after: int = 0, search: str | None = None
    ) -> Json:
        """Of a task, or of the last one that has a transcript. With `search`, the first 100
        entries of all tasks, or of one, that contain the text."""
        ...

    async def patch(self, wanted: str) -> Patch: ...

    async def artifacts(self, wanted: str) -> list[Json]: ...

    async def artifact(self, wanted: str, sha256: str) -> bytes: ...

    async def approvals(self, wanted: str | None = None) -> list[Json]:
        """Open ones, of one order or of all."""
        ...

    async def workflows(self) -> list[Json]: ...

    async def workflow(self, name: str) -> Json: ...

    async def lint(self, source: str, file: str) -> Json:
        """The workflow as it would run, or Refused with every problem."""
        ...

    async def commands(self, repository: str | None, base: str | None) -> Json:
        """The built-in ones, and those of a repository with the files that cannot be used."""
        ...

    async def command(self, name: str, repository: str | None, base: str | None) -> Json: ...

    async def tools(self) -> list[Json]: ...

    async def sandboxes(self, **wanted: Any) -> Json: ...

    async def sandbox(self, wanted: str) -> Json: ...


class Client(Looker, Protocol):
    """The same, and what changes orders."""

    async def create(self, order: Json) -> Json: ...

    async def prompt(self, wanted: str, text: str) -> Json: ...

    async def steer(self, wanted: str, verb: Verb) -> Json: ...

    async def retry(
        self, wanted: str, task: str | None, *, text: str, agent_timeout_s: float | None
    ) -> Json: ...

    async def override(
        self, wanted: str, task: str, action: Literal["skip", "succeed", "retry"], outputs: Json
    ) -> Json: ...

    async def decide(
        self, approval_id: str, *, approved: bool, comment: str, subject_hash: str
    ) -> Json: ...

    async def destroy_sandbox(self, wanted: str, *, force: bool) -> Json: ...

    async def run_program(
        self, wanted: str, argv: list[str], timeout_s: float, output: Output
    ) -> Json:
        """How it ended. `output` is called with what it prints, as it comes."""
        ...

    async def run_terminal(self, wanted: str, argv: list[str], keyboard: Keyboard) -> Json:
        """The same with a person at its terminal. No `argv`: a shell."""
        ...

    async def going_on(self) -> list[Json]:
        """The orders that move in this process by themselves. None, where another one works."""
        ...

    async def leave(self) -> bool:
        """Answer nobody any more. False, and it goes on, when somebody has just set an order
        going."""
        ...


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Where a command works: a data directory, and a server if one was named."""

    home: Path | None = None
    url: str | None = None


def server_of(place: Target, settings: setting.Settings) -> str | None:
    """The server to talk to: the one that was named, else whoever owns the directory."""
    if place.url:
        return place.url
    owner = lock.read_owner(settings.home)
    return owner.url if owner is not None and owner.url else None


@asynccontextmanager
async def remote(place: Target, url: str, settings: setting.Settings) -> AsyncIterator[OverHttp]:
    """What answers at `url`. `Again` when that was the owner of the directory, and is gone."""
    from agent_work_orders.cli.over_http import OverHttp, api_key

    async with OverHttp(url, api_key(settings.home), named=bool(place.url)) as client:
        yield client


@asynccontextmanager
async def owning(opened: AbstractAsyncContextManager[Opened]) -> AsyncIterator[Opened]:
    """The data directory, opened by this process. `Again` when another one has it and will answer
    in a moment, or be gone."""
    async with AsyncExitStack() as at_end:
        try:
            inside = await at_end.enter_async_context(opened)
        except Conflict as error:
            if error.code != "data_directory_in_use":
                raise
            raise Again(error.code, error.message, hint=error.hint) from error
        yield inside


@asynccontextmanager
async def looking(place: Target) -> AsyncIterator[Looker]:
    """To read. Where nobody answers the data directory is opened for looking only."""
    settings = setting.load(home=place.home)
    url = server_of(place, settings)
    if url is not None:
        async with remote(place, url, settings) as client:
            yield client
        return
    from agent_work_orders.bootstrap import open_archive
    from agent_work_orders.cli.in_process import LookingInProcess

    async with open_archive(settings) as context:
        yield LookingInProcess(context)


@asynccontextmanager
async def acting(place: Target, wanted: str | None, *, hands: bool) -> AsyncIterator[Client]:
    """To change an order, or (None) to make one. Where nobody owns the directory this process does
    meanwhile; with `hands` it works on that order and answers others, without them it only takes
    notes for whoever runs next. Other open orders stay as they are until somebody wants something
    of them: their agents would be cut off at the end."""
    settings = setting.load(home=place.home)
    url = server_of(place, settings)
    if url is not None:
        async with remote(place, url, settings) as client:
            yield client
        return
    from agent_work_orders.bootstrap import open_archive, open_house
    from agent_work_orders.cli.in_process import AtWork, InProcess, LookingInProcess

    order_id: str | None = None
    if wanted is not None:
        async with open_archive(settings) as context:
            order_id = await LookingInProcess(context).find(wanted)
    quiet_logs(settings)
    # Nobody waits for a terminal for long; what is cut off is taken up at the next start.
    changes: dict[str, Any] = {"server.drain_s": min(settings.server.drain_s, 3.0)}
    if not hands:
        changes["limits.running_tasks"] = 0
    settings = setting.changed(settings, changes)
    async with owning(open_house(settings, takes=lambda one: one == order_id)) as house:
        if not hands:
            yield InProcess(house.context)
            return
        from agent_work_orders.cli.door import Door

        door = Door(house)
        door.open()
        try:
            yield AtWork(house.context, door)
        finally:
            await door.close()


def need_server(place: Target, what: str) -> None:
    settings = setting.load(home=place.home)
    if server_of(place, settings) is None:
        raise Told(
            "server_needed",
            f"{what} needs a server that goes on when this command ends",
            hint=f"Start one with `awo up --home {settings.home}`, or leave --detach out",
            field="--detach",
        )


def quiet_logs(settings: setting.Settings) -> None:
    """In a command the log goes to the order's files, and to the terminal only when asked."""
    from agent_work_orders.observability import logs
    from agent_work_orders.security.redaction import Redactor

    redactor = Redactor(settings.secrets)
    level = "debug" if settings.server.log_level == "debug" else "critical"
    logs.configure(level=level, pretty=True, redact=redactor.value)
