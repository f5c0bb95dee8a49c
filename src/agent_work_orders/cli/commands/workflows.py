"""`awo workflow …` and `awo tools`: what can be run, and out of what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import completion, options
from agent_work_orders.cli.commands import run as running
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json

app = typer.Typer(no_args_is_help=True, help="List, show, check and run workflows.")


@app.command("list")
@guarded
def list_workflows(
    home: options.Home = None, url: options.Url = None, as_json: options.Json = False
) -> None:
    """List the workflows there are."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> list[Json]:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await client.workflows()

    found = wait_for(ask)
    if as_json:
        print_json({"workflows": found})
        return
    rows = [[one["name"], one["origin"], one["description"]] for one in found]
    Screen().table(["workflow", "origin", "description"], rows)


@app.command("show")
@guarded
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=completion.workflows)],
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show a workflow: its inputs, tasks and source."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> Json:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await client.workflow(name)

    found = wait_for(ask)
    if as_json:
        print_json({"workflow": found})
        return
    screen = Screen()
    screen.heading(found["name"])
    screen.pairs(
        [
            ("description", found["description"]),
            ("origin", found["origin"]),
            ("version", found["hash"][:12]),
            ("aliases", ", ".join(found["aliases"])),
            ("inputs", ", ".join(found["inputs"])),
        ]
    )
    screen.line()
    screen.block(found["source"])


@app.command("lint")
@guarded
def lint(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A workflow's YAML file.")],
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Check a workflow file; every problem with its line. Exits 2 when there are any."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli import request
    from agent_work_orders.cli.screen import Screen, print_json

    source = request.read_text(Path(file), "FILE")

    async def ask() -> Json:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await client.lint(source, file)

    found = wait_for(ask)
    if as_json:
        print_json({"valid": True, "problems": [], "workflow": found})
    else:
        Screen().marked("ok", f"{file}: {found['name']}, {len(found['tasks'])} tasks", indent=0)


@app.command("schema")
@guarded
def schema() -> None:
    """Print the JSON Schema of workflow files, for editors."""
    from agent_work_orders.cli.screen import print_json
    from agent_work_orders.workflow_engine.schema import workflow_schema

    print_json(workflow_schema())


@app.command("run")
@guarded
def run_workflow(
    name: Annotated[str, typer.Argument(metavar="NAME_OR_FILE", help="The workflow.")],
    prompt: running.Prompt = None,
    repo: running.Repo = None,
    sandbox: running.Sandbox = None,
    agent: running.Agent = None,
    agent_command: running.AgentCommand = None,
    agent_script: running.AgentScript = None,
    issue: running.Issue = None,
    base: running.Base = None,
    inputs: running.Inputs = None,
    priority: running.Priority = "medium",
    timeout: running.Timeout = None,
    model: running.Model = None,
    detach: options.Detach = False,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Run a workflow: the same as `awo run --workflow NAME_OR_FILE`."""
    running.run(
        prompt=prompt,
        repo=repo,
        workflow=name,
        sandbox=sandbox,
        agent=agent,
        agent_command=agent_command,
        agent_script=agent_script,
        issue=issue,
        base=base,
        inputs=inputs,
        priority=priority,
        timeout=timeout,
        model=model,
        detach=detach,
        home=home,
        url=url,
        as_json=as_json,
    )


@guarded
def tools(
    home: options.Home = None, url: options.Url = None, as_json: options.Json = False
) -> None:
    """List the tools that tasks of a workflow may use."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> list[Json]:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await client.tools()

    found = wait_for(ask)
    if as_json:
        print_json({"tools": found})
        return
    rows = [[one["name"], one["risk"], one["summary"]] for one in found]
    Screen().table(["tool", "risk", "what it does"], rows)
