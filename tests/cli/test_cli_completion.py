"""A shell completes ids, tasks, workflows and statuses; where it cannot, it stays silent."""

from __future__ import annotations

from typing import Any

import pytest


def offered(awo: Any, *words: str, **env: str) -> list[str]:
    """As bash asks: the words so far, the last one incomplete."""
    done = awo(
        _AWO_COMPLETE="complete_bash",
        COMP_WORDS=" ".join(["awo", *words]),
        COMP_CWORD=str(len(words)),
        **env,
    )
    assert done.err == ""
    return list(done.out.split())


def test_ids_tasks_workflows_and_statuses(awo: Any) -> None:
    awo.repository()
    agent = awo.agent("echo x >> calc.py")
    request = ("run", "--repo", "repo", "--workflow", "agent_workflow_build", "--json")
    done = awo.inside(*request, "--agent-command", agent, "Go")
    order = done.json["agent_work_order"]["agent_work_order_id"]
    assert offered(awo, "show", "wo-") == [order[:11]]
    assert offered(awo, "diff", order[:13]) == [order]
    assert offered(awo, "show", "wo-zzzzzz") == []
    assert "build" in offered(awo, "output", order, "")
    assert offered(awo, "list", "--status", "c") == ["completed", "cancelled"]
    (awo.folder / "agent_own.yaml").write_text("name: own\n")
    names = offered(awo, "run", "--workflow", "agent_")
    assert "agent_workflow_build" in names and "agent_own.yaml" in names
    assert "test-pipeline" in offered(awo, "workflow", "show", "test")


@pytest.mark.parametrize("home", ["", "none", "file"])
def test_it_never_fails_and_makes_nothing(awo: Any, home: str) -> None:
    (awo.folder / "file").write_text("no folder")
    before = sorted(awo.folder.iterdir())
    state = str(awo.folder / "state")
    assert offered(awo, "show", "wo-", AWO_HOME=home, XDG_STATE_HOME=state) == []
    assert sorted(awo.folder.iterdir()) == before
