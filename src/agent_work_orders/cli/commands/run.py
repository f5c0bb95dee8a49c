"""`awo run`: an order from request to end, here or at a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import completion, options
from agent_work_orders.cli.outcome import guarded, wait_for
from agent_work_orders.sandbox_manager.sandbox_types import SANDBOX_TYPES

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json, Target
    from agent_work_orders.cli.request import TypedOrder
    from agent_work_orders.cli.screen import Screen

Prompt = Annotated[
    str | None,
    typer.Argument(metavar="PROMPT", help="What the agent is asked to do; - reads it from stdin."),
]
Repo = Annotated[
    str | None,
    typer.Option(
        "--repo", metavar="URL_OR_PATH", help="The repository.  [default: that around this folder]"
    ),
]
Sandbox = Annotated[
    str | None, typer.Option("--sandbox", metavar="TYPE", help=f"{' or '.join(SANDBOX_TYPES)}.")
]
Agent = Annotated[
    str | None, typer.Option("--agent", metavar="NAME", help="claude_code, command or scripted.")
]
AgentCommand = Annotated[
    str | None,
    typer.Option(
        "--agent-command",
        metavar="ARGV",
        help="A program as agent; {prompt_file} or {prompt} is replaced, else the prompt is stdin.",
    ),
]
AgentScript = Annotated[
    Path | None,
    typer.Option("--agent-script", metavar="FILE", help="Steps for the scripted agent (YAML)."),
]
Issue = Annotated[
    str | None, typer.Option("--issue", metavar="N", help="The issue that it is about.")
]
Base = Annotated[
    str | None,
    typer.Option("--base", metavar="BRANCH", help="The branch to start from.  [default: HEAD's]"),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="K=V", help="An input of the workflow; may be repeated."),
]
Priority = Annotated[
    str, typer.Option("--priority", metavar="P", help="low, medium, high or urgent.")
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", help="The longest that one agent turn may take."),
]
Model = Annotated[
    str | None, typer.Option("--model", metavar="M", help="The agent's model, if it has a choice.")
]


@guarded
def run(
    prompt: Prompt = None,
    repo: Repo = None,
    workflow: Annotated[
        str,
        typer.Option(
            "--workflow",
            metavar="NAME_OR_FILE",
            help="What is done.",
            autocompletion=completion.workflows,
        ),
    ] = "agent_workflow_plan_build_test",
    sandbox: Sandbox = None,
    agent: Agent = None,
    agent_command: AgentCommand = None,
    agent_script: AgentScript = None,
    issue: Issue = None,
    base: Base = None,
    inputs: Inputs = None,
    priority: Priority = "medium",
    timeout: Timeout = None,
    model: Model = None,
    detach: options.Detach = False,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Run a work order and show it live. Exits 0 only when the order completed.

    Without a server the order runs in this process, with the same engine, and everything about it
    is kept in the data directory. Other terminals can look, steer and run further orders meanwhile,
    which run here too; it ends when all have ended.

    Exit codes: 0 completed, 1 failed or cancelled, 2 refused, 3 waits for a person, 130
    interrupted.
    """
    from agent_work_orders.cli.client import Target
    from agent_work_orders.cli.request import TypedOrder

    asked = TypedOrder(
        prompt=prompt,
        repo=repo,
        workflow=workflow,
        sandbox=sandbox,
        agent=agent,
        agent_command=agent_command,
        agent_script=agent_script,
        issue=issue,
        base=base,
        inputs=inputs or [],
        priority=priority,
        timeout_s=timeout,
        model=model,
    )
    place = Target(home=home, url=url)
    raise typer.Exit(wait_for(lambda: _run(asked, place, detach=detach, as_json=as_json)))


async def _run(asked: TypedOrder, place: Target, *, detach: bool, as_json: bool) -> int:
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli import outcome, request
    from agent_work_orders.cli.screen import Screen, print_json

    if detach:
        clients.need_server(place, "--detach")
    order = request.of(asked)
    # Checked before this process takes the directory: a refused order must not start others.
    async with clients.looking(place) as client:
        if "workflow_source" in order:
            await client.lint(order["workflow_source"], asked.workflow)
        order = await request.with_inputs(client, order, asked.inputs, asked.workflow)
        await client.check(order)
    screen = Screen(quiet=as_json)
    if detach:
        async with clients.acting(place, None, hands=True) as client:
            made = await client.create(order)
        introduce(made, screen)
        screen.line(f"Follow it with: awo logs -f {made['agent_work_order_id']}")
        if as_json:
            print_json({"agent_work_order": made})
        return outcome.OK
    from agent_work_orders.cli.conduct import conduct

    async def create(client: clients.Client) -> Json:
        made = await client.create(order)
        introduce(made, screen)
        return made

    return await conduct(place, None, create, as_json=as_json, screen=screen)


def introduce(order: Json, screen: Screen, more: Sequence[tuple[str, str | None]] = ()) -> None:
    screen.heading(f"Work order {order['agent_work_order_id']}")
    name = str(order["agent"].get("name", ""))
    if name == "scripted":
        name = "scripted: it follows a script, no model is asked"
    elif name == "command":
        name = f"command: {' '.join(order['agent'].get('argv', []))}"
    screen.pairs(
        [
            ("repository", str(order["repository_url"])),
            ("workflow", str(order["workflow_type"])),
            ("agent", name),
            ("sandbox", str(order["sandbox_type"])),
            ("branch", str(order["git_branch_name"])),
            *more,
        ]
    )
