"""A plan-build-test order with an agent that answers at once, against a bare script.

The script makes the git and process calls such an order needs, one after the other, with no
journal, no supervision and no clean-up: what is left of our time beyond it is our overhead. Both
fetch, make a workspace, let the agent work twice and commit each time, bring the commits to the
mirror, run the tests once on a clean checkout, count the changes, and push the branch.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from agent_work_orders.work_orders.submit import NewOrder
from benchmarks import in_process, sample_repository, scratch
from benchmarks.result import Result
from benchmarks.rounds import Contender, race
from benchmarks.sample_repository import git

ROUNDS = 10
AGENT = ["sh", "-c", 'cat > "$AWO_COMMAND.txt"']
WORKFLOW = """\
name: overhead
description: Plan, build, test and push
tasks:
  plan: {uses: agent.command, phase: planning, with: {command: plan}}
  build: {needs: [plan], uses: agent.command, phase: implementing, with: {command: build}}
  check: {needs: [build], uses: tests.run, phase: testing, with: {command: [./check.sh]}}
  publish: {needs: [check], uses: git.push}
"""


def run(quick: bool) -> Result:
    with scratch.place("work_order_overhead") as place:
        # Agents run as another user, who has to be able to pass.
        place.chmod(0o711)
        origin = sample_repository.make(place)
        mirror = sample_repository.mirror(origin, place)
        new = NewOrder(
            repository_url=str(origin),
            workflow_source=WORKFLOW,
            initial_prompt="Do it",
            agent={"name": "command", "argv": AGENT},
        )
        with in_process.orders(place / "home") as orders:
            contenders = [
                Contender(
                    "bare_script", "baseline", lambda n: bare_script(origin, mirror, place, n)
                ),
                Contender("awo", "ours", lambda _: orders.work(new)),
            ]
            return race("order_ms", contenders, 2 if quick else ROUNDS)


def bare_script(origin: Path, mirror: Path, place: Path, number: int) -> None:
    workspace, branch = place / f"script-{number}", f"order-{number}"
    tested = place / f"script-{number}-tested"
    git(mirror, "fetch", "--quiet", "origin")
    base = git(mirror, "rev-parse", "refs/heads/main").strip()
    git(place, "clone", "--quiet", "--shared", "--branch", "main", str(mirror), str(workspace))
    git(workspace, "switch", "--quiet", "--create", branch)
    for phase, command in (("planning", "plan"), ("implementing", "build")):
        agent(workspace, command)
        git(workspace, "status", "--porcelain")
        git(workspace, "add", "--all")
        git(workspace, "commit", "--quiet", "--message", phase, "--trailer", f"Phase: {phase}")
        git(mirror, "fetch", "--quiet", str(workspace), f"{branch}:refs/orders/{branch}")
        git(mirror, "diff", "--numstat", base, f"refs/orders/{branch}")
    git(place, "clone", "--quiet", "--shared", "--no-checkout", str(mirror), str(tested))
    git(tested, "checkout", "--quiet", git(mirror, "rev-parse", f"refs/orders/{branch}").strip())
    subprocess.run(["./check.sh"], cwd=tested, check=True, capture_output=True, timeout=60)
    git(mirror, "ls-remote", "--quiet", str(origin), f"refs/heads/{branch}")
    git(mirror, "push", "--quiet", str(origin), f"refs/orders/{branch}:refs/heads/{branch}")


def agent(workspace: Path, command: str) -> None:
    """An agent that answers at once: one process that writes one file."""
    subprocess.run(
        AGENT,
        cwd=workspace,
        env={"PATH": "/usr/bin:/bin", "AWO_COMMAND": command},
        input=b"done\n",
        check=True,
        capture_output=True,
        timeout=60,
    )
