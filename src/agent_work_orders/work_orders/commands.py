"""Which commands an agent can be given: ours, and a repository's at its trusted base branch."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_work_orders.command_loader import catalogue, expansion
from agent_work_orders.command_loader.catalogue import Catalogue
from agent_work_orders.command_loader.command import Command
from agent_work_orders.repositories import url
from agent_work_orders.repositories.mirror import Base
from agent_work_orders.security.roles import Caller
from agent_work_orders.tools.base_files import base_files
from agent_work_orders.work_orders import submit
from agent_work_orders.work_orders.context import Context


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """A repository's address and branch, as somebody gave them; without one, ours alone."""

    repository: str | None = None
    base: str | None = None


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    origin: Literal["repository", "builtin"]
    file: str | None
    """In the repository; a built-in one has none."""
    description: str
    argument_hint: str
    takes_arguments: bool
    positions: int
    """How many arguments it reads one by one."""
    aliases: tuple[str, ...]
    allowed_tools: tuple[str, ...]
    model: str | None


class Shown(Listed, frozen=True, kw_only=True):
    body: str


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    file: str
    line: int
    message: str
    hint: str


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    repository: str | None
    base_branch: str | None
    base_sha: str | None
    commands: tuple[Listed, ...]
    problems: tuple[Problem, ...]


async def listing(context: Context, where: Where, caller: Caller) -> Listing:
    """Raises what `submit` raises of a repository and a base, and `too_many_commands`."""
    key, base, found = await _catalogue(context, where, caller)
    return Listing(
        repository=key,
        base_branch=None if base is None else base.branch,
        base_sha=None if base is None else base.sha,
        commands=tuple(_listed(one) for one in found.all()),
        problems=tuple(
            Problem(file=one.path, line=one.line, message=one.message, hint=one.hint)
            for one in found.problems
        ),
    )


async def show(context: Context, name: str, where: Where, caller: Caller) -> Shown:
    """NotFound `command_unknown` with a guess; Refused `command_invalid` with file and line."""
    _, _, found = await _catalogue(context, where, caller)
    command = found.get(name)
    return Shown(**msgspec.structs.asdict(_listed(command)), body=command.body)


async def _catalogue(
    context: Context, where: Where, caller: Caller
) -> tuple[str | None, Base | None, Catalogue]:
    caller.need("read")
    if where.repository is None:
        return None, None, Catalogue(repository={})
    origin = url.parse(where.repository, origins=context.policy.git_origins)
    caller.need_repository(origin.key)
    if not context.mirrors.stored(origin.key):
        # A first copy of some repository is what an order makes.
        caller.need("operate")
    await submit.check_repository(context, origin, where.base)
    mirror = await context.mirrors.ensure(origin)
    base = mirror.resolve_base(where.base)
    found = context.cache.commands(origin.key, base.sha)
    if found is None:
        found = catalogue.load(await base_files(mirror, base.sha))
        context.cache.put_commands(origin.key, base.sha, found)
    return origin.key, base, found


def _listed(command: Command) -> Listed:
    return Listed(
        name=command.name,
        origin=command.source,
        file=command.path if command.source == "repository" else None,
        description=command.description,
        argument_hint=command.argument_hint,
        takes_arguments=expansion.takes_arguments(command),
        positions=expansion.positions(command),
        aliases=catalogue.same(command.name)[1:],
        allowed_tools=command.allowed_tools,
        model=command.model,
    )
