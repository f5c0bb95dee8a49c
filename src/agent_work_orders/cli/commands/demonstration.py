"""`awo demo`: one order from issue to reviewed branch, offline, with a scripted agent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Client, Json
    from agent_work_orders.cli.demo.sample import Sample
    from agent_work_orders.cli.screen import Screen

WORKFLOW = "agent_workflow_plan_build_test"


@guarded
def demo(
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Where the sample is made.  [default: a new temporary one]"),
    ] = None,
    on_github: Annotated[
        bool, typer.Option("--github", help="On a simulated GitHub: issue in, pull request out.")
    ] = False,
    home: options.Home = None,
    as_json: options.Json = False,
) -> None:
    """Run an order on a small sample with a SCRIPTED agent: no model, no key, no network.

    Uses a data directory of its own unless AWO_HOME is set. Exits 0 only when the order completed
    and git shows it.
    """
    from agent_work_orders import settings as setting
    from agent_work_orders.cli.screen import Screen

    screen = Screen(quiet=as_json)
    if home is not None:
        setting.load(home=home)  # said before a sample is made
    made = _fresh(folder)
    if on_github:
        wait_for(lambda: _demo_on_github(made, as_json, screen))
        return
    raise typer.Exit(wait_for(lambda: _demo(made, home, as_json, screen)))


async def _demo_on_github(folder: Path, as_json: bool, screen: Screen) -> None:
    from agent_work_orders.cli.demo import exactly_one, on_github
    from agent_work_orders.cli.screen import print_json

    screen.heading("Demonstration: GitHub is SIMULATED and the agent SCRIPTED; no model is asked.")
    records = await on_github.play(folder, screen)
    found = exactly_one.verify(records)
    screen.line()
    screen.heading("What the simulator's records say")
    screen.pairs(found)
    if as_json:
        print_json({"verified": dict(found), "counts": records["counts"]})


async def _demo(folder: Path, home: Path | None, as_json: bool, screen: Screen) -> int:
    from agent_work_orders.cli.client import Target
    from agent_work_orders.cli.commands.run import introduce
    from agent_work_orders.cli.conduct import conduct
    from agent_work_orders.cli.demo import sample

    made = sample.make(folder)
    place = Target(home=home or folder / "data")
    screen.heading("Demonstration: the agent is SCRIPTED. It follows a file; no model is asked.")
    screen.pairs([("issue", made.issue.splitlines()[0]), ("sample", str(made.repository))])
    screen.line()
    kept: list[Json] = []

    async def begin(client: Client) -> Json:
        order = await client.create(_request(made))
        introduce(order, screen)
        kept.append(order)
        return order

    code = await conduct(place, None, begin, as_json=as_json, screen=screen)
    if code == 0:
        _verify(made, str(kept[0]["git_branch_name"]), screen)
        _explain(kept[0], made, place.home, screen)
    return code


def _fresh(folder: Path | None) -> Path:
    import tempfile

    from agent_work_orders.cli import request

    if folder is None:
        made = Path(tempfile.mkdtemp(prefix="awo-demo-"))
    else:
        made = Path(tempfile.mkdtemp(prefix="awo-demo-", dir=request.folder(folder, "--folder")))
    # When this runs as root, agents run as another user who must be able to pass.
    made.chmod(0o755)
    return made


def _request(made: Sample) -> Json:
    return {
        "repository_url": str(made.repository),
        "workflow_type": WORKFLOW,
        "sandbox_type": "git_worktree",
        "github_issue_number": "1",
        "initial_prompt": made.issue,
        "title": made.issue.splitlines()[0],
        "agent": {"name": "scripted", "script": made.script.read_text("utf-8")},
    }


def _verify(made: Sample, branch: str, screen: Screen) -> None:
    """What the product says is checked against what git says."""
    from agent_work_orders.cli.demo import sample
    from agent_work_orders.cli.outcome import FAILED, Told

    seen = sample.look(made.repository, branch)
    wanted = ("plan", "implement[1].build", "implement[2].build")
    if seen.tasks != wanted:
        found = ", ".join(seen.tasks) or "no task"
        raise Told(
            "demo_not_verified",
            f"git shows commits of {found}, not of {', '.join(wanted)}",
            exit_code=FAILED,
        )
    sample.sound(made.repository)
    screen.line()
    screen.heading(f"git log main..{branch}")
    for commit in seen.commits:
        screen.line(commit, indent=2)


def _explain(order: Json, made: Sample, home: Path | None, screen: Screen) -> None:
    from agent_work_orders.cli.screen import short

    name, awo = short(order["agent_work_order_id"]), _program()
    here = f"AWO_HOME={home} {awo}" if os.environ.get("AWO_HOME") != str(home) else awo
    screen.line()
    screen.heading("Look at it")
    screen.line(f"{here} show {name}", indent=2)
    screen.line(f"{here} diff {name}", indent=2)
    screen.line(f"git -C {made.repository} log --stat main..{order['git_branch_name']}", indent=2)
    screen.line()
    screen.heading("The same with Claude Code (needs the claude program and a key)")
    screen.line(
        f'ANTHROPIC_API_KEY=… {awo} run --agent claude_code --repo PATH "What to do"', indent=2
    )


def _program() -> str:
    """How this program was called, when `awo` alone would not find it."""
    import shutil
    import sys

    return "awo" if shutil.which("awo") else sys.argv[0]
