"""Sandboxes: list, look, remove, run a program inside."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response

from agent_work_orders import ids
from agent_work_orders.api import sandbox_models as models
from agent_work_orders.api import views
from agent_work_orders.api.program_stream import MEDIA_TYPE, ProgramStream, Waiting
from agent_work_orders.api.request_parts import Limit50, Offset, caller_of, context_of
from agent_work_orders.errors import NotFound
from agent_work_orders.sandbox_manager.terminal import Terminal
from agent_work_orders.work_orders import find, keys, sandboxes
from agent_work_orders.work_orders import sandbox_programs as programs

router = APIRouter(tags=["sandboxes"])

SandboxId = Annotated[
    str,
    Path(
        max_length=160,
        description="Identifier of a sandbox; or the id of an order, or any unique beginning of "
        "one: then the sandbox of its agents",
    ),
]
Force = Annotated[
    bool, Query(description="Also when somebody works in it: what they run is killed")
]


@router.get("/api/sandboxes", response_model=models.SandboxList)
async def list_sandboxes(
    request: Request,
    status: Annotated[
        list[models.SandboxStatus] | None,
        Query(max_length=10, description="Only these; may be repeated"),
    ] = None,
    sandbox_type: Annotated[str | None, Query(max_length=64)] = None,
    repository: Annotated[
        str | None, Query(max_length=2048, description="Address or key of a repository")
    ] = None,
    agent_work_order_id: Annotated[
        str | None, Query(max_length=64, description="Only those of this order")
    ] = None,
    limit: Limit50 = 50,
    offset: Offset = 0,
) -> Response:
    """Sandboxes that there are and were, newest first."""
    context, caller = context_of(request), caller_of(request)
    order_id = None
    if agent_work_order_id is not None:
        row = await find.record_of(context, agent_work_order_id, caller)
        order_id = row.agent_work_order_id
    wanted = sandboxes.Filter(
        status=tuple(status or ()),
        sandbox_type=sandbox_type,
        repository=None if repository is None else keys.repository_key(context, repository),
        order_id=order_id,
    )
    found = await sandboxes.page(context, caller, wanted, limit=limit, offset=offset)
    return views.answer(views.sandbox_page(found))


@router.get("/sandbox/list", response_model=models.SandboxList)
async def list_active_sandboxes(
    request: Request, limit: Limit50 = 50, offset: Offset = 0
) -> Response:
    """Sandboxes that there are, newest first."""
    wanted = sandboxes.Filter(status=sandboxes.THERE)
    found = await sandboxes.page(
        context_of(request), caller_of(request), wanted, limit=limit, offset=offset
    )
    return views.answer(views.sandbox_page(found))


@router.get("/api/sandboxes/{sandbox_id}", response_model=models.SandboxAnswer)
async def get_sandbox(request: Request, sandbox_id: SandboxId) -> Response:
    """One sandbox, with its size."""
    shown = await sandboxes.show(context_of(request), sandbox_id, caller_of(request))
    return views.answer({"sandbox": views.sandbox_shown(shown)})


@router.delete("/api/sandboxes/{sandbox_id}", response_model=models.SandboxDestroyed)
async def delete_sandbox(request: Request, sandbox_id: SandboxId, force: Force = False) -> Response:
    """End what runs in it and remove it. What no commit has is kept first; a second time changes
    nothing."""
    return await _destroyed(request, sandbox_id, force)


@router.post("/sandbox/{sandbox_id}/destroy", response_model=models.SandboxDestroyed)
async def destroy_sandbox(
    request: Request, sandbox_id: SandboxId, force: Force = False
) -> Response:
    """The same under its other name."""
    return await _destroyed(request, sandbox_id, force)


async def _destroyed(request: Request, sandbox_id: str, force: bool) -> Response:
    context, caller = context_of(request), caller_of(request)
    done = await sandboxes.destroy(context, sandbox_id, caller, force=force)
    return views.answer(views.sandbox_destroyed(done))


@router.post(
    "/api/sandboxes/{sandbox_id}/exec",
    response_class=Response,
    responses={200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
)
async def run_in_sandbox(
    request: Request, sandbox_id: SandboxId, body: models.ExecRequest
) -> Response:
    """Run a program in an order's sandbox, and send what it prints as it comes.

    Each line of the answer is an object: `{"stream", "data"}` (base64), at last `{"end": {…}}`
    with its exit code. When whoever asked goes away, the program is killed.
    """
    context, caller = context_of(request), caller_of(request)

    async def run(waiting: Waiting) -> views.Json:
        async with programs.entered(context, sandbox_id, caller, body.argv) as inside:
            done = await inside.run(body.argv, body.timeout_s, waiting.put)
            return views.program_end(inside, done)

    return ProgramStream(run)


@router.post(
    "/api/sandboxes/{sandbox_id}/terminal",
    response_class=Response,
    responses={200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
)
async def open_terminal(
    request: Request, sandbox_id: SandboxId, body: models.TerminalRequest
) -> Response:
    """Run a shell, or another program, with a terminal.

    As `exec`; the first line is `{"terminal": "<id>"}`, to which keys are sent.
    """
    context, caller = context_of(request), caller_of(request)
    terminals: dict[str, OpenTerminal] = request.app.state.terminals
    argv = body.argv or list(programs.SHELL)

    async def run(waiting: Waiting) -> views.Json:
        async with programs.entered(context, sandbox_id, caller, argv) as inside:
            terminal_id = ids.new_id("terminal")

            def heard(piece: bytes) -> asyncio.Future[None] | None:
                return waiting.put("stdout", piece)

            terminal = Terminal(body.rows, body.columns, heard)
            terminals[terminal_id] = OpenTerminal(caller.name, terminal)
            waiting.say({"terminal": terminal_id})
            try:
                done = await inside.attach(argv, terminal, body.kind, body.timeout_s)
            finally:
                del terminals[terminal_id]
                terminal.close()
            return views.program_end(inside, done)

    return ProgramStream(run)


@router.post("/api/terminals/{terminal_id}", response_model=models.TerminalAnswer)
async def type_into_terminal(
    request: Request,
    terminal_id: Annotated[str, Path(max_length=80)],
    body: models.TerminalInput,
) -> Response:
    """Keys that were typed, or the window's new size. Only for who opened it."""
    caller_of(request).need("operate")
    found: OpenTerminal | None = request.app.state.terminals.get(terminal_id)
    if found is None or found.opened_by != caller_of(request).name:
        raise NotFound(
            "terminal_unknown", "There is no such terminal", hint="Its program may have ended."
        )
    if body.rows is not None and body.columns is not None:
        found.terminal.resize(body.rows, body.columns)
    taken = found.terminal.type(body.keys) if body.keys else True
    return views.answer({"taken": taken})


class OpenTerminal(msgspec.Struct, frozen=True):
    opened_by: str
    terminal: Terminal
