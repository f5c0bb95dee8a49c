"""Programs of an order find the base branch and the tags of its history in the workspace."""

from __future__ import annotations

from typing import Any

import pytest

FLOW = """\
name: notes
tasks:
  build: {uses: agent.prompt, with: {prompt: Go}}
  reset:
    needs: [build]
    uses: sandbox.exec
    with: {argv: [git, log, "-1", --format=%s, origin/main]}
  notes:
    needs: [reset]
    uses: sandbox.exec
    with:
      argv:
        - sh
        - -ec
        - |
          git diff --name-only main...HEAD
          git describe --tags main
          git log --format=%s v1..HEAD | wc -l
          git merge-base origin/main HEAD
          git tag
"""


@pytest.mark.parametrize("sandbox", ["git_worktree", "git_branch"])
def test_the_base_branch_and_the_tags_of_its_history(awo: Any, sandbox: str) -> None:
    repository = awo.repository()
    awo.git(repository, "tag", "-a", "v1", "-m", "One")
    awo.git(repository, "commit", "-q", "--allow-empty", "-m", "Second")
    base = awo.git(repository, "rev-parse", "main").strip()
    awo.git(repository, "checkout", "-q", "-b", "aside")
    awo.git(repository, "commit", "-q", "--allow-empty", "-m", "Not of this history")
    awo.git(repository, "tag", "v2")
    awo.git(repository, "checkout", "-q", "main")
    (awo.folder / "notes.yaml").write_text(FLOW)
    request = ("run", "--repo", "repo", "--workflow", "notes.yaml", "--sandbox", sandbox, "--json")
    agent = awo.agent("git diff --quiet main...HEAD && echo x >> calc.py")
    done = awo(*request, "--agent-command", agent, "Go")
    assert done.code == 0, done.out + done.err
    outputs = {task["path"]: task["outputs"] for task in done.json["tasks"]}
    assert outputs["reset"]["stdout"] == "Second\n"
    assert outputs["notes"]["stdout"].split("\n")[:-1] == [
        "calc.py",
        "v1-1-g" + base[:7],
        "2",
        base,
        "v1",
    ]
