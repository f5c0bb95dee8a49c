"""Build leftovers, from the agent to the branch: not committed, and said everywhere."""

from __future__ import annotations

from typing import Any


def test_leftovers_are_not_on_the_branch_and_are_told(awo: Any) -> None:
    repository = awo.repository()
    agent = awo.agent(
        "mkdir -p __pycache__ node_modules/x && echo x > __pycache__/calc.pyc\n"
        "echo x > node_modules/x/i.js && echo 'def add(a, b): return a + b' > calc.py"
    )
    done = awo(
        "run", "--repo", str(repository), "--agent-command", agent, "--json",
        "--workflow", "agent_workflow_plan", "Mend it.",
    )  # fmt: skip
    assert done.code == 0, done
    order = done.json["agent_work_order"]
    files = awo.git(repository, "ls-tree", "-r", "--name-only", order["git_branch_name"])
    assert "calc.py" in files and "node_modules" not in files and "pyc" not in files
    order_id = order["agent_work_order_id"]
    [task] = [one for one in done.json["tasks"] if one["uses"].startswith("agent.")]
    assert task["outputs"]["left_out"] == ["__pycache__/", "node_modules/"]
    assert "left out: __pycache__/, node_modules/" in awo.inside("show", order_id).out
    logs = awo.inside("logs", order_id, "--json").json
    [entry] = [one for one in logs["log_entries"] if one["event"] == "changes_left_out"]
    assert (entry["count"], entry["names"]) == (2, ["__pycache__/", "node_modules/"])
