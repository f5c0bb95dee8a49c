"""Commands in a repository, without a data directory that anybody named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FLOW = """\
name: from-the-repository
tasks:
  build: {uses: agent.prompt, with: {prompt: Go}}
"""


def test_the_journal_is_found_from_below_and_survives_a_cleaning(awo: Any) -> None:
    repository = awo.repository()
    below = repository / "src" / "deep"
    below.mkdir(parents=True)
    (repository / ".awo" / "workflows").mkdir(parents=True)
    (repository / ".awo" / "workflows" / "flow.yaml").write_text(FLOW)
    here = {"AWO_HOME": "", "XDG_STATE_HOME": str(awo.folder / "state")}
    agent = awo.agent("echo x >> calc.py")
    awo.folder = repository
    request = ("run", "--workflow", "from-the-repository", "--agent-command", agent, "--json", "Go")
    done = awo(*request, **here)
    assert done.code == 0, done.err
    order_id = done.json["agent_work_order"]["agent_work_order_id"]
    awo.folder = below
    assert awo.inside("show", order_id, "--json", **here).code == 0
    awo.git(repository, "clean", "-q", "-fdx")
    assert [one.name for one in repository.iterdir() if one.name != ".git"] == ["calc.py"]
    awo.folder = repository
    [order] = awo.inside("list", "--json", **here).json["agent_work_orders"]
    assert order["agent_work_order_id"] == order_id
    assert "+x" in awo.inside("diff", order_id, **here).out

    told = awo.inside("home", "--json", **here).json
    home = Path(told["home"])
    assert home.parent == repository.parent / "state" / "awo" and (home / "journal.db").exists()
    assert told["why"] == f"it belongs to the repository {repository}"
    assert (told["exists"], told["passed_over"], told["of_same_name"]) == (True, None, [])
    assert awo.inside("home", **here).out.startswith(f"{home}\n  why ")


def test_it_says_who_named_it_and_how_to_move_an_old_one(awo: Any) -> None:
    repository = awo.repository()
    here = {"AWO_HOME": "", "XDG_STATE_HOME": str(awo.folder / "state")}
    assert awo.inside("home", "--json").json["why"] == "AWO_HOME names it"
    named = awo.inside("home", "--home", "x", "--json", **here).json
    assert (named["home"], named["why"]) == (str(awo.folder / "x"), "--home names it")
    old = repository / ".awo"
    old.mkdir()
    (old / "journal.db").touch()
    awo.folder = repository
    told = awo.inside("home", **here).out
    assert told.startswith(f"{old}\n")
    assert f"mv {old} {repository.parent}/state/awo/repo-" in told
