"""Git over HTTP: clone, fetch and push through `git http-backend`, with GitHub's refusals.

Rules (docs: "Authenticating as a GitHub App installation", "About protected branches"):
- The token is the password of basic authentication; whoever cannot read a repository is told that
  there is none, and one who gave no credential is asked for it (401).
- Pushes to one repository happen one after another. What GitHub's hooks refuse is refused as a
  whole, in their words, in git's own report.
- `World.pushed` is told after git has moved the refs and before the client hears of it.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from github_simulator.asking.access import visible
from github_simulator.call import Refusal
from github_simulator.outside import mishaps, push_hook, push_rules
from github_simulator.outside.cgi import Backend, environment
from github_simulator.outside.credentials import Credentials, allows
from github_simulator.outside.faults import Fault
from github_simulator.outside.receive_pack import (
    ZERO,
    Commands,
    Unreadable,
    Update,
    report,
)
from github_simulator.outside.wire import Exchange, Gone
from github_simulator.things.accounts import role_at_least
from github_simulator.things.actor import Actor
from github_simulator.things.repository import Repository
from github_simulator.world import World

_PATH = re.compile(
    r"/(?P<owner>[\w.\-\[\]]+)/(?P<name>[\w.\-]+?)(?:\.git)?"
    r"/(?P<what>info/refs|git-upload-pack|git-receive-pack)"
)
_FOUND = re.compile(rb"simulator (force|merge|workflow|large|secret) (\S+) ([^\n\r]*)")
# GitHub takes 2 GB at once.
PUSH_LIMIT_BYTES = 2 * 1024**3
# Reports are small; a buffered answer of a fetch happens only where a fault damages it.
BUFFER_LIMIT_BYTES = 64 * 1024 * 1024
# docs: "About large files on GitHub".
LARGEST_FILE_BYTES = 100 * 1024 * 1024
PLAIN = {"content-type": "text/plain; charset=utf-8"}
NO_CACHE = {"cache-control": "no-cache, max-age=0, must-revalidate"}


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    owner: str
    name: str
    what: str
    service: str

    @property
    def operation(self) -> str:
        return f"git/{self.what.removeprefix('git-').replace('/', '-')}"

    @property
    def writes(self) -> bool:
        return self.service == "git-receive-pack"


class Denied(Exception):
    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


def asked(method: str, path: str, query: dict[str, str]) -> Asked | None:
    """What a git client wants, or None if this is no request of one."""
    found = _PATH.fullmatch(path)
    if found is None:
        return None
    what = found["what"]
    service = query.get("service", "") if what == "info/refs" else what
    if (method == "GET") != (what == "info/refs") or not service.startswith("git-"):
        return None
    return Asked(owner=found["owner"], name=found["name"], what=what, service=service)


class GitHttp:
    def __init__(self, world: World, credentials: Credentials, hooks: Path) -> None:
        self._world = world
        self._credentials = credentials
        self._hooks = push_hook.install(hooks)
        self._turns: dict[int, asyncio.Lock] = {}
        # Whether secrets in a push refuse it; GitHub's default depends on the repository.
        self.push_protection = False
        self.largest_file_bytes = LARGEST_FILE_BYTES

    async def serve(self, exchange: Exchange, wanted: Asked, fault: Fault | None) -> Actor | None:
        """Answer it. Returns who asked, as far as that is known."""
        actor: Actor | None = None
        try:
            actor = self._who(exchange)
            repository = self._repository(wanted, actor)
            if wanted.service == "git-receive-pack" and wanted.what != "info/refs":
                async with self._turns.setdefault(repository.id, asyncio.Lock()):
                    await self._push(exchange, repository, actor, fault)
            else:
                await self._read(exchange, wanted, repository, actor, fault)
        except Denied as denied:
            body = f"{denied.message}\n".encode()
            await exchange.answer(denied.status, {**PLAIN, **denied.headers}, body)
        except Gone:
            exchange.hang_up()
        return actor

    def _who(self, exchange: Exchange) -> Actor:
        try:
            return self._credentials.who(exchange.request.headers.get("authorization"))
        except Refusal:
            raise _unknown("Invalid username or token.") from None

    def _repository(self, wanted: Asked, actor: Actor) -> Repository:
        name = f"{wanted.owner}/{wanted.name}"
        found = self._world.repository(name)
        if found is None:
            target = self._world.moved(name)
            if target is not None and visible(self._world, actor, target):
                tail = wanted.what
                if tail == "info/refs":
                    tail += f"?service={wanted.service}"
                here = f"{self._world.server_url}/{self._world.full_name(target)}.git/{tail}"
                raise Denied(301, "Moved Permanently", {"location": here})
        if found is None or not visible(self._world, actor, found):
            if actor.kind == "nobody":
                raise _unknown("Authentication required")
            raise Denied(404, "Repository not found.")
        if wanted.writes:
            self._check_write(actor, found)
        elif not self._allowed(actor, found, "read"):
            raise Denied(403, "Read access to repository not granted.")
        return found

    def _check_write(self, actor: Actor, repository: Repository) -> None:
        if actor.kind == "nobody":
            raise _unknown("Authentication required")
        installation = self._world.installations.get(actor.installation_id or 0)
        if installation is not None and installation.suspended_ms is not None:
            raise Denied(403, "This installation has been suspended")
        if not self._allowed(actor, repository, "write"):
            name = self._world.full_name(repository)
            if actor.kind == "installation" and repository.id in (actor.repositories or ()):
                raise Denied(403, "Write access to repository not granted.")
            raise Denied(403, f"Permission to {name}.git denied to {actor.login}.")
        if repository.archived:
            raise Denied(403, "This repository was archived so it is read-only.")

    def _allowed(self, actor: Actor, repository: Repository, level: str) -> bool:
        if level == "read" and not repository.private:
            return True
        held = actor.permissions.get("*") or actor.permissions.get("contents", "none")
        if not allows(held, level) or not _chosen(actor, repository):
            return False
        if actor.kind != "user":
            return actor.kind == "installation"
        return role_at_least(self._world.role(actor.account_id, repository), level)

    async def _read(
        self,
        exchange: Exchange,
        wanted: Asked,
        repository: Repository,
        actor: Actor,
        fault: Fault | None,
    ) -> None:
        env = self._environment(exchange, repository, wanted.what, actor)
        async with Backend(env) as backend, asyncio.TaskGroup() as tasks:
            feeding = tasks.create_task(backend.feed(_plain(exchange)))
            status, fields = await backend.head()
            headers = {**NO_CACHE, **dict(fields)}
            if fault is not None:
                content = b"".join([chunk async for chunk in _bounded(backend.body())])
                await mishaps.answer(exchange, fault, status, headers, content)
            else:
                await exchange.start(status, headers)
                async for chunk in backend.body():
                    await exchange.write(chunk, more=True)
                await exchange.write(b"", more=False)
            feeding.cancel()

    async def _push(
        self, exchange: Exchange, repository: Repository, actor: Actor, fault: Fault | None
    ) -> None:
        commands = Commands()
        body = _plain(exchange)
        begun: list[bytes] = []
        try:
            while not commands.whole:
                chunk = await anext(body)
                begun.append(chunk)
                commands.feed(chunk)
        except (StopAsyncIteration, Unreadable):
            raise Denied(400, "Not a push") from None
        refused, said = self._offences(repository, commands.updates, actor)
        if refused:
            async for _ in body:
                pass
            content = report(refused, commands.capabilities, said)
        else:
            content = await self._receive(exchange, repository, actor, commands, begun, body)
        headers = {**NO_CACHE, "content-type": "application/x-git-receive-pack-result"}
        if fault is not None:
            await mishaps.answer(exchange, fault, 200, headers, content)
        else:
            await exchange.answer(200, headers, content)

    def _offences(
        self, repository: Repository, updates: list[Update], actor: Actor
    ) -> tuple[list[tuple[str, str]], list[str]]:
        """One offence refuses the whole push, as GitHub's hook does."""
        reasons: dict[str, str] = {}
        said: list[str] = []
        for update in updates:
            why = push_rules.offence(self._world, repository, update, actor)
            if why is not None:
                reasons[update.ref], lines = push_rules.spoken(update.ref, why)
                said += lines
        return _declined(updates, reasons), said

    async def _receive(
        self,
        exchange: Exchange,
        repository: Repository,
        actor: Actor,
        commands: Commands,
        begun: list[bytes],
        rest: AsyncIterator[bytes],
    ) -> bytes:
        env = self._environment(exchange, repository, "git-receive-pack", actor)
        env |= push_rules.hook_environment(self._world, repository, commands.updates, actor)
        env[push_hook.NO_SECRETS] = "1" if self.push_protection else ""
        env[push_hook.LARGEST_BYTES] = str(self.largest_file_bytes)
        async with Backend(env) as backend, asyncio.TaskGroup() as tasks:
            feeding = tasks.create_task(backend.feed(_after(begun, rest)))
            status, _ = await backend.head()
            content = b"".join([chunk async for chunk in _bounded(backend.body())])
            feeding.cancel()
        if status != 200:
            raise Denied(status, "git failed")
        reasons: dict[str, str] = {}
        said: list[str] = []
        for found in _FOUND.findall(content):
            kind, ref, detail = (part.decode("utf-8", "surrogateescape") for part in found)
            reasons[ref], lines = push_rules.found_by_hook(kind, ref, detail)
            said += lines
        if reasons:
            return report(_declined(commands.updates, reasons), commands.capabilities, said)
        self._tell(repository, commands.updates, actor)
        return content

    def _tell(self, repository: Repository, updates: list[Update], actor: Actor) -> None:
        """Of those updates that git really made."""
        refs = self._world.git(repository).refs("refs/")
        pusher = self._world.sender(actor)
        for update in updates:
            moved = update.before != update.after and refs.get(update.ref, ZERO) == update.after
            if moved:
                self._world.pushed(repository, update.ref, update.before, update.after, pusher)

    def _environment(
        self, exchange: Exchange, repository: Repository, what: str, actor: Actor
    ) -> dict[str, str]:
        request = exchange.request
        folder = self._world.git_dir(repository)
        variables = {
            "REQUEST_METHOD": request.method,
            "PATH_INFO": f"/{folder.name}/{what}",
            "QUERY_STRING": request.query_string,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
            "REMOTE_ADDR": request.client,
        }
        if actor.kind != "nobody":
            variables["REMOTE_USER"] = actor.login
        return environment(folder.parent, self._hooks, variables)


def _declined(updates: list[Update], reasons: dict[str, str]) -> list[tuple[str, str]]:
    """Every ref of a refused push; those without an offence of their own are refused too."""
    if not reasons:
        return []
    return [(u.ref, reasons.get(u.ref, push_rules.OTHERS_DECLINED)) for u in updates]


def _chosen(actor: Actor, repository: Repository) -> bool:
    return actor.repositories is None or repository.id in actor.repositories


def _unknown(message: str) -> Denied:
    return Denied(401, message, {"www-authenticate": 'Basic realm="GitHub"'})


async def _plain(exchange: Exchange) -> AsyncIterator[bytes]:
    """The body, unpacked piece by piece if it was sent with gzip, within the limit."""
    packed = exchange.request.headers.get("content-encoding", "") in ("gzip", "x-gzip")
    unpacker = zlib.decompressobj(wbits=31) if packed else None
    total = 0
    async for chunk in exchange.chunks():
        if unpacker is None:
            pieces = [chunk]
        else:
            pieces = [unpacker.decompress(chunk, 65_536)]
            while unpacker.unconsumed_tail:
                pieces.append(unpacker.decompress(unpacker.unconsumed_tail, 65_536))
        for piece in pieces:
            total += len(piece)
            if total > PUSH_LIMIT_BYTES:
                raise Denied(413, "Pack exceeds maximum allowed size")
            if piece:
                yield piece


async def _after(begun: list[bytes], rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for chunk in begun:
        yield chunk
    async for chunk in rest:
        yield chunk


async def _bounded(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    total = 0
    async for chunk in chunks:
        total += len(chunk)
        if total > BUFFER_LIMIT_BYTES:
            raise Denied(500, "The answer is too large to be damaged")
        yield chunk
