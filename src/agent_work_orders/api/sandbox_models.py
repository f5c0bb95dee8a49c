"""Sandboxes on the wire: SB4's record in the documents' words."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Base64Bytes, Field

from agent_work_orders.api.models import Answer
from agent_work_orders.api.requests import Sent
from agent_work_orders.sandbox_manager.terminal import KIND, LARGEST_SIDE, TYPED_LIMIT_BYTES
from agent_work_orders.work_orders.sandbox_programs import (
    ARGUMENT_CHARS,
    ARGUMENTS,
    LONGEST_S,
    TIMEOUT_S,
)

SandboxStatus = Literal["PROVISIONING", "ACTIVE", "TERMINATED", "FAILED"]


class Sandbox(Answer):
    id: str = Field(examples=["git_worktree-wo-k3v7abcdefgh2345"])
    agent_work_order_id: str
    part: str = Field(description="Empty where the order's agents work; else what it is for")
    sandbox_type: str
    repository: str | None = Field(description="Key of the repository")
    status: SandboxStatus
    in_use: bool = Field(description="By a task, or by a person's program")
    agent_id: str | None
    task_id: str = Field(description="What it was made for: its order's id, as in `/task/{id}`")
    container_id: str | None
    connection_details: dict[str, Any] = Field(
        description="`exec_url`, where programs can be run inside; nothing listens in a sandbox"
    )
    created_at: datetime
    expires_at: datetime = Field(description="Every use moves it; the moment of its end after that")


class SandboxDetail(Sandbox):
    head_sha: str | None = Field(description="The commit that it was last checked out at")
    disk_bytes: int | None = Field(description="Null when it is gone")


class SandboxAnswer(Answer):
    sandbox: SandboxDetail


class SandboxList(Answer):
    sandboxes: list[Sandbox]
    total_count: int
    has_more: bool


class SandboxDestroyed(Answer):
    message: str
    kept_sha: str | None = Field(
        description="The commit in the server's mirror that has what was not committed"
    )
    sandbox: Sandbox


class ExecRequest(Sent):
    """A program, and not a line for a shell."""

    argv: list[Annotated[str, Field(max_length=ARGUMENT_CHARS)]] = Field(
        min_length=1, max_length=ARGUMENTS, examples=[["git", "status"]]
    )
    timeout_s: float = Field(TIMEOUT_S, gt=0, le=LONGEST_S)


class TerminalRequest(Sent):
    argv: list[Annotated[str, Field(max_length=ARGUMENT_CHARS)]] | None = Field(
        None, min_length=1, max_length=ARGUMENTS, description="A shell if left out"
    )
    rows: int = Field(24, ge=1, le=LARGEST_SIDE)
    columns: int = Field(80, ge=1, le=LARGEST_SIDE)
    kind: str = Field("xterm", pattern=KIND, description="As in TERM")
    timeout_s: float = Field(LONGEST_S, gt=0, le=LONGEST_S)


class TerminalInput(Sent):
    keys: Base64Bytes = Field(b"", max_length=TYPED_LIMIT_BYTES, description="As base64")
    rows: int | None = Field(None, ge=1, le=LARGEST_SIDE, description="With `columns`")
    columns: int | None = Field(None, ge=1, le=LARGEST_SIDE)


class TerminalAnswer(Answer):
    taken: bool = Field(description="False: the program reads nothing, and no more fits")
