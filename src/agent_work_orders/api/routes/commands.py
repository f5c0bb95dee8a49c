"""Commands that an agent can be given: list, look."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field

from agent_work_orders.api import views
from agent_work_orders.api.models import Answer
from agent_work_orders.api.request_parts import caller_of, context_of
from agent_work_orders.work_orders import commands

router = APIRouter(prefix="/api/commands", tags=["parts"])

Repository = Annotated[
    str | None,
    Query(min_length=1, max_length=2048, description="Its address; the built-in ones without"),
]
BaseBranch = Annotated[
    str | None, Query(max_length=255, description="Its trusted branch; the default one")
]


class CommandSummary(Answer):
    name: str
    origin: Literal["repository", "builtin"]
    file: str | None = Field(description="Its file in the repository")
    description: str
    argument_hint: str
    takes_arguments: bool
    positions: int = Field(description="How many arguments it reads one by one")
    aliases: list[str] = Field(description="Other names for it")
    allowed_tools: list[str] = Field(description="What the file asks for; not granted by it")
    model: str | None


class Command(CommandSummary):
    body: str


class CommandAnswer(Answer):
    command: Command


class CommandProblem(Answer):
    file: str
    line: int
    message: str
    hint: str


class CommandList(Answer):
    repository: str | None = Field(description="Key of the repository")
    base_branch: str | None
    base_sha: str | None
    commands: list[CommandSummary]
    problems: list[CommandProblem] = Field(description="Files that cannot be used, and why")


@router.get("", response_model=CommandList)
async def list_commands(
    request: Request, repository: Repository = None, base: BaseBranch = None
) -> Response:
    """The built-in commands, and those of a repository at its trusted base branch."""
    where = commands.Where(repository=repository, base=base)
    found = await commands.listing(context_of(request), where, caller_of(request))
    return views.answer(msgspec.to_builtins(found))


@router.get("/{name}", response_model=CommandAnswer)
async def get_command(
    request: Request,
    name: Annotated[str, Path(max_length=300, description="Name of a command")],
    repository: Repository = None,
    base: BaseBranch = None,
) -> Response:
    """A command with its text."""
    where = commands.Where(repository=repository, base=base)
    found = await commands.show(context_of(request), name, where, caller_of(request))
    return views.answer({"command": msgspec.to_builtins(found)})
