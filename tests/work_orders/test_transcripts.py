"""Transcripts: in their folder, in pages, one per task."""

from __future__ import annotations

from pathlib import Path

import pytest
from site_bench import Site, git

from agent_work_orders.agent_executor import transcript
from agent_work_orders.agent_executor.agent import Entry
from agent_work_orders.errors import NotFound
from agent_work_orders.work_orders.transcripts import Transcripts

ORDER = "wo-aaaaaaaaaaaaaaaa"


@pytest.mark.parametrize(
    "path", ["../x", "a/../b", "/etc/passwd", "..", "a\0b", "", "x" * 2000, "a b", "é"]
)
def test_no_path_leads_out_of_the_transcripts(tmp_path: Path, path: str) -> None:
    kept = Transcripts(tmp_path / "t")
    for order_id, task in ((ORDER, path), (path, "plan")):
        if task == "/etc/passwd":
            continue
        with pytest.raises(NotFound):
            kept.append(order_id, task, b"x\n")
        with pytest.raises(NotFound):
            kept.read(order_id, task)
    kept.append(ORDER, "/etc/passwd", b"x\n")
    assert [file.parent.name for file in tmp_path.rglob("*.jsonl")] == [ORDER]


def test_a_transcript_is_read_in_pages(tmp_path: Path) -> None:
    kept = Transcripts(tmp_path / "t")
    for number in range(5):
        kept.append(ORDER, "fix[2].build", transcript.encode(Entry(kind="text", text=str(number))))
    kept.append(ORDER, "x" * 900, b"{}\n")
    first = kept.read(ORDER, "fix[2].build", limit=2)
    assert [entry.text for _, entry in first] == ["0", "1"]
    rest = kept.read(ORDER, "fix[2].build", after=first[-1][0])
    assert [entry.text for _, entry in rest] == ["2", "3", "4"]
    kept.append(ORDER, "fix[2].build", b'{"half')
    assert kept.read(ORDER, "fix[2].build", after=rest[-1][0]) == []
    assert "fix[2].build" in kept.tasks(ORDER)
    assert (tmp_path / "t").stat().st_mode & 0o077 == 0


async def test_a_child_workflows_agent_has_its_own_transcript(site: Site) -> None:
    flow = """
name: parent
tasks:
  build: {uses: agent.prompt, with: {prompt: PARENT}}
  child: {needs: [build], workflow: agent_workflow_build}
"""
    order_id = await site.submit(workflow_source=flow)
    await site.until(order_id, "completed")
    assert sorted(site.rooms.transcripts.tasks(order_id)) == ["build", "child/build"]
    mine = "".join(entry.text for _, entry in site.rooms.transcripts.read(order_id, "build"))
    assert "PARENT" in mine and "Carry out the work" not in mine
    assert git(site.source, "branch", "--list", f"feat-{order_id}")
