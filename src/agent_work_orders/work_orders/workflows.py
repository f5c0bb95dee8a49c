"""Workflows by name: a file in `<home>/workflows`, one in `.awo/workflows` of the repository whose
data directory it is, or a built-in one of the same name.

Whatever an order starts with, also a workflow given as text, is kept as an immutable version;
giving one as text does not publish it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from agent_work_orders.errors import NotFound, Refused
from agent_work_orders.state_manager.versions import Origin
from agent_work_orders.work_orders.cache import Compiled
from agent_work_orders.work_orders.context import Context
from agent_work_orders.workflow_engine import builtin
from agent_work_orders.workflow_engine import plan as plans
from agent_work_orders.workflow_engine.compiler import compile_workflow, plan_hash
from agent_work_orders.workflow_engine.definition import Definition, parse
from agent_work_orders.workflow_engine.plan import Plan


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A workflow that can be run, with where it is from."""

    definition: Definition
    source: str
    origin: Origin


def known(context: Context) -> dict[str, Known]:
    """Every workflow by name; what people made hides a built-in one of the same name."""
    found = {
        name: Known(definition=definition, source=builtin.source(name), origin="builtin")
        for name, definition in builtin.definitions().items()
    }
    for file in _files(context):
        try:
            source = file.read_text("utf-8")
            definition = parse(source, file.name)
        except (Refused, OSError, UnicodeDecodeError) as error:
            context.log(
                "", "workflow_file_unusable", "warning", {"file": file.name, "error": str(error)}
            )
            continue
        found[definition.name] = Known(definition=definition, source=source, origin="user")
    return found


def find(context: Context, name: str) -> Known:
    """By name or alias. NotFound `workflow_unknown` with a guess."""
    every = known(context)
    if (found := called(every, name)) is not None:
        return found
    names = [*every, *(alias for one in every.values() for alias in one.definition.aliases)]
    close = difflib.get_close_matches(name, names, n=1)
    guess = f"Did you mean {close[0]}? " if close else ""
    raise NotFound(
        "workflow_unknown",
        f"There is no workflow {name[:80]!r}",
        hint=f"{guess}`awo workflow list` shows them all.",
        field="workflow_type",
    )


def called(every: Mapping[str, Known], name: str) -> Known | None:
    """The one of this name or alias."""
    if name in every:
        return every[name]
    return next((one for one in every.values() if name in one.definition.aliases), None)


def all_plans(context: Context) -> Iterator[tuple[Known, Plan]]:
    """Of every workflow; one that does not compile says so when it is run. The files are read once,
    however many there are."""
    every = known(context)

    def child(name: str) -> Definition | None:
        found = called(every, name)
        return None if found is None else found.definition

    for one in every.values():
        with context.cache.compiling:
            try:
                plan = compile_workflow(one.definition, context.catalogue, children=child)
            except Refused:
                continue
        yield one, plan


def compile_named(context: Context, name: str) -> Compiled:
    """By name or alias. Where nobody has files of their own, a built-in one is compiled once."""
    with context.cache.compiling:
        if (compiled := ready(context, name)) is not None:
            return compiled
        compiled = _compile(context, find(context, name))
        if (shipped := builtin.find(name)) is not None and not _files(context):
            context.cache.builtin[shipped.name] = compiled
        return compiled


def ready(context: Context, name: str) -> Compiled | None:
    """One that is compiled already, and cannot have changed."""
    shipped = builtin.find(name)
    if shipped is None or shipped.name not in context.cache.builtin or _files(context):
        return None
    return context.cache.builtin[shipped.name]


def _files(context: Context) -> list[Path]:
    """The last of a name counts."""
    folders = (*context.policy.workflow_folders, context.home / "workflows")
    return [file for folder in folders for file in sorted(folder.glob("*.yaml"))]


def compile_source(context: Context, source: str, file: str) -> Compiled:
    """A workflow given as text. Refused `workflow_invalid` with every problem."""
    with context.cache.compiling:
        definition = parse(source, file)
        return _compile(context, Known(definition=definition, source=source, origin="user"))


def _compile(context: Context, one: Known) -> Compiled:
    def child(name: str) -> Definition | None:
        try:
            return find(context, name).definition
        except NotFound:
            return None

    plan = compile_workflow(one.definition, context.catalogue, children=child)
    return Compiled(plan=plan, plan_hash=plan_hash(plan), source=one.source, origin=one.origin)


async def keep(context: Context, compiled: Compiled, by: str) -> None:
    """See that a version of this content is kept."""
    if compiled.plan_hash in context.cache.saved:
        return
    await context.store.versions.save(
        compiled.plan.name,
        hash=compiled.plan_hash,
        source=compiled.source,
        plan=plans.encode(compiled.plan),
        created_by=by,
        origin=compiled.origin,
        at_ms=context.clock.now_ms(),
    )
    context.cache.saved.add(compiled.plan_hash)
