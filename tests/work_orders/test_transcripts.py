"""Transcripts: in their folder, in pages, one per task."""

from __future__ import annotations

from pathlib import Path

import pytest
from site_bench import Site, git

from agent_work_orders.agent_executor import transcript
from agent_work_orders.agent_executor.agent import Entry
from agent_work_orders.errors import NotFound, Refused
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.work_orders import steer, transcript_pages, transcripts
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
    assert sorted(site.context.transcripts.tasks(order_id)) == ["build", "child/build"]
    mine = "".join(entry.text for _, entry in site.context.transcripts.read(order_id, "build"))
    assert "PARENT" in mine and "Carry out the work" not in mine
    assert git(site.source, "branch", "--list", f"feat-{order_id}")


def kept_lines(folder: Path, *lines: tuple[str, Entry]) -> Transcripts:
    kept = Transcripts(folder / "t")
    for task, entry in lines:
        kept.append(ORDER, task, transcript.encode(entry))
    return kept


def test_a_text_is_found_in_all_transcripts_in_either_case(tmp_path: Path) -> None:
    kept = kept_lines(
        tmp_path,
        ("plan", Entry(kind="text", text="a" * 500 + " The LightHouse " + "b" * 500)),
        ("plan", Entry(kind="text", text="nothing")),
        ("child/build", Entry(kind="tool_use", text="Bash", data={"input": {"c": "lighthouse*"}})),
        ("child/build", Entry(kind="text", text="Straße [x] (a|b) \\d")),
    )
    found = kept.search(ORDER, "lighthouse")
    assert not found.has_more
    assert [(one.task, one.kind) for one in found.matches] == [
        ("plan", "text"),
        ("child/build", "tool_use"),
    ]
    first = found.matches[0]
    assert "The LightHouse b" in first.excerpt and len(first.excerpt) < 250
    # Reading goes on from there.
    [entry] = kept.read(ORDER, "plan", after=first.after, limit=1)
    assert entry[0] == first.cursor and "LightHouse" in entry[1].text
    assert [one.task for one in kept.search(ORDER, "LIGHT", task="plan").matches] == ["plan"]
    for text in ("[x] (A|B) \\D", "STRASSE".replace("SS", "ß")):
        assert len(kept.search(ORDER, text).matches) == 1
    assert kept.search(ORDER, "x.*y").matches == ()
    assert kept.search("wo-bbbbbbbbbbbbbbbb", "x").matches == ()
    with pytest.raises(NotFound):
        kept.search(ORDER, "x", task="absent")


def test_a_search_has_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same = [("plan", Entry(kind="text", text=f"word {number}")) for number in range(5)]
    kept = kept_lines(tmp_path, *same)
    assert [one.excerpt for one in kept.search(ORDER, "word", limit=2).matches] == [
        "word 0",
        "word 1",
    ]
    assert kept.search(ORDER, "word", limit=2).has_more
    assert not kept.search(ORDER, "word", limit=5).has_more
    monkeypatch.setattr(transcripts, "SEARCH_LIMIT_BYTES", 100)
    cut = kept.search(ORDER, "word")
    assert cut.has_more and 0 < len(cut.matches) < 5


def test_the_newest_entries_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same = [("plan", Entry(kind="text", text=f"word {number}")) for number in range(9)]
    kept = kept_lines(tmp_path, *same)
    assert [entry.text for entry in kept.newest(ORDER, "plan")] == [one.text for _, one in same]
    monkeypatch.setattr(transcripts, "NEWEST_LIMIT_BYTES", 100)
    newest = [entry.text for entry in kept.newest(ORDER, "plan")]
    assert newest == [f"word {number}" for number in range(9 - len(newest), 9)]
    assert 0 < len(newest) < 4
    assert kept.newest(ORDER, "absent") == []


AGENT = """
cat > told.txt
file=$(grep -o '/[^ ]*earlier-turns.txt' told.txt)
[ -n "$file" ] && cp "$file" seen.txt && exit 0
echo I found the lighthouse; exit 3
"""


async def test_an_order_that_is_retried_remembers_in_its_new_sandbox(site: Site) -> None:
    agent = {"name": "command", "argv": ["sh", "-c", AGENT]}
    order_id = await site.submit(agent=agent)
    await site.until(order_id, "failed")
    await site.restart()
    assert not (await site.context.sandboxes.state(order_id)).exists
    await steer.retry(site.context, order_id, LOCAL_OPERATOR)
    await site.until(order_id, "completed")
    branch = f"feat-{order_id}"
    files = git(site.source, "ls-tree", "-r", "--name-only", branch).split()
    assert sorted(files) == ["README.md", "seen.txt", "told.txt"]
    assert "said: I found the lighthouse" in git(site.source, "show", f"{branch}:seen.txt")
    found = await transcript_pages.search(
        site.context, order_id[:9], LOCAL_OPERATOR, "LIGHTHOUSE", task=None
    )
    assert [one.kind for one in found.matches] == ["text", "error"]
    assert {one.task for one in found.matches} == {"build"}
    with pytest.raises(Refused, match="nothing to look for"):
        await transcript_pages.search(site.context, order_id, LOCAL_OPERATOR, " ", task=None)
