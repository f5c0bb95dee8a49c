"""Which workflow a name means, and what is kept of it."""

from __future__ import annotations

import pytest
from site_bench import Site

from agent_work_orders.errors import NotFound
from agent_work_orders.work_orders import workflows

FLOW = """name: {name}
description: {said}
tasks:
  say: {{uses: sandbox.exec, with: {{argv: [echo, hello]}}}}
"""


def put(site: Site, file: str, name: str, said: str) -> None:
    folder = site.home / "workflows"
    folder.mkdir(exist_ok=True)
    (folder / file).write_text(FLOW.format(name=name, said=said))


async def test_names_aliases_and_guesses(site: Site) -> None:
    assert workflows.find(site.context, "agent_workflow_build").origin == "builtin"
    by_alias = workflows.compile_named(site.context, "agent_workflow_implement")
    assert by_alias.plan.name == "agent_workflow_build"
    assert workflows.compile_named(site.context, "agent_workflow_build") is by_alias
    with pytest.raises(NotFound) as unknown:
        workflows.compile_named(site.context, "agent_workflow_biuld")
    assert "agent_workflow_build" in unknown.value.hint


async def test_a_file_hides_a_builtin_and_text_for_one_order_does_not(site: Site) -> None:
    name = "agent_workflow_build"
    shipped = workflows.compile_named(site.context, name)
    given = workflows.compile_source(site.context, FLOW.format(name=name, said="given"), "x")
    await workflows.keep(site.context, given, "ann")
    assert workflows.compile_named(site.context, name).plan_hash == shipped.plan_hash
    put(site, "any.yaml", name, "file")
    found = workflows.find(site.context, name)
    assert (found.definition.description, found.origin) == ("file", "user")
    (site.home / "workflows" / "any.yaml").unlink()
    assert workflows.compile_named(site.context, name).plan_hash == shipped.plan_hash
    assert shipped.plan_hash != given.plan_hash


async def test_a_broken_file_costs_only_itself(site: Site) -> None:
    put(site, "good.yaml", "good", "fine")
    (site.home / "workflows" / "bad.yaml").write_text("tasks: [")
    (site.home / "workflows" / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    (site.home / "workflows" / "folder.yaml").mkdir()
    (site.home / "workflows" / "note.txt").write_text("not a workflow")
    known = workflows.known(site.context)
    assert "good" in known and "agent_workflow_plan" in known
    assert workflows.compile_named(site.context, "good").origin == "user"


async def test_what_an_order_ran_is_kept_with_its_source(site: Site) -> None:
    source = FLOW.format(name="once", said="given")
    order_id = await site.submit(workflow_source=source)
    record = await site.until(order_id, "completed")
    kept = await site.context.store.versions.by_hash(record.workflow_version)
    assert kept is not None and (kept.name, kept.source, kept.version) == ("once", source, 1)
    await site.until(await site.submit(workflow_source=source), "completed")
    assert len(await site.context.store.versions.history("once")) == 1
