"""A canary that an agent prints in every way is in no file that the house keeps."""

from __future__ import annotations

import base64
from pathlib import Path
from urllib.parse import quote

import pytest
from site_bench import Site

from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.work_orders import inspect

FLOW = """
name: leak
tasks:
  agent: {uses: agent.prompt, with: {prompt: go}}
  run: {needs: [agent], uses: sandbox.exec, with: {argv: [cat, leak.txt]}}
  test: {needs: [agent], uses: tests.run, with: {command: [sh, -c, "cat leak.txt; exit 1"]}}
  fail: {needs: [run, test], uses: sandbox.exec, with: {argv: [sh, -c, "cat leak.txt >&2; exit 1"]}}
"""


@pytest.mark.fault("I1")
async def test_no_sink_has_it(site: Site) -> None:
    canary = site.house.local_key
    forms = [
        canary,
        quote(canary, safe=""),
        base64.b64encode(b"user:" + canary.encode()).decode(),
        canary.encode().hex(),
    ]
    (site.folder / "agent.sh").write_text(
        "#!/bin/sh\n" + "".join(f"echo '{form}' | tee -a leak.txt\n" for form in forms)
    )
    (site.folder / "agent.sh").chmod(0o755)
    agent = {"name": "command", "argv": [str(site.folder / "agent.sh")]}
    order_id = await site.submit(workflow_source=FLOW, agent=agent)
    await site.until(order_id, "failed")
    tasks = await inspect.tasks(site.context, order_id, LOCAL_OPERATOR)
    assert "[redacted]" in str(tasks)
    kept = await inspect.artifacts(site.context, order_id, LOCAL_OPERATOR)
    assert [one.name for one in kept] == ["test-output.txt"]
    assert b"[redacted]" in await site.context.store.artifacts.read(kept[0].sha256)
    await site._stack.aclose()
    found = [
        (file.relative_to(site.home).as_posix(), form)
        for file in _files(site.home)
        for form in (canary, canary.encode().hex(), forms[2][8:-4])
        if form.encode() in file.read_bytes()
    ]
    assert found == []


def _files(home: Path) -> list[Path]:
    """Everything but the key itself and git's objects, which are the agent's own commit."""
    return [
        file
        for file in home.rglob("*")
        if file.is_file() and file.name != "local.key" and "mirrors" not in file.parts
    ]
