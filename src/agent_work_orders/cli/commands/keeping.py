"""What an order keeps: what its tasks printed, its artifacts, its work as files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_work_orders.cli import completion, options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json, Looker

# In this order, what of a task's outputs was printed or said.
PRINTED = ("stdout", "stderr", "output", "summary", "text")


@guarded
def output(
    order: options.Order,
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="The task, as `awo show` names it.",
            autocompletion=completion.tasks,
        ),
    ],
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show what a task of an order printed: its program's output, its tests', its agent's answer.

    With --json, all outputs of the task.
    """
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> Json:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            return await _outputs(client, order, task)

    found = wait_for(ask)
    if as_json:
        print_json(found)
        return
    screen = Screen()
    outputs = found["outputs"] or {}
    printed = [(name, str(outputs[name])) for name in PRINTED if outputs.get(name)]
    for name, text in printed:
        if len(printed) > 1:
            screen.heading(name)
        screen.block(text)
    if found["failure"]:
        failure = found["failure"]
        sys.stderr.write(f"{screen.told(failure['message'])} ({failure['code']})\n")
    elif not printed:
        sys.stderr.write(f"It is {found['state']} and printed nothing{_inner(found)}.\n")


def _inner(task: Json) -> str:
    """Where what is inside of it can be read."""
    first = {"foreach": "[1]", "repeat": "[1].TASK", "group": ".TASK"}.get(task["kind"])
    path = task["task"]
    return "" if first is None else f" itself; of what is in it: `awo output ORDER '{path}{first}'`"


async def _outputs(client: Looker, wanted: str, path: str) -> Json:
    import json

    from agent_work_orders.cli.outcome import Told

    order_id = (await client.order(wanted))["agent_work_order_id"]
    tasks = await client.tasks(order_id)
    found = next((one for one in tasks if one["path"] == path), None)
    if found is None:
        names = ", ".join(one["path"] for one in tasks[:8])
        raise Told(
            "task_unknown",
            f"The order has no task {path[:80]!r}",
            hint=f"It has {names}{' and others' if len(tasks) > 8 else ''}",
            field="TASK",
        )
    outputs: dict[str, Any] = found["outputs"] or {}
    if spilled := outputs.get("spilled_sha256"):
        # Too large for the journal: all of it was kept beside.
        outputs = json.loads(await client.artifact(order_id, str(spilled)))
    return {
        "agent_work_order_id": order_id,
        "task": path,
        "kind": found["kind"],
        "state": found["state"],
        "outputs": outputs,
        "failure": found["failure"],
    }


@guarded
def artifacts(
    order: options.Order,
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="[ARTIFACT]",
            help="Its name, or a beginning of its hash. Without it, lists them.",
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Where to write it.  [default: stdout]"),
    ] = None,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """List what an order kept as evidence (reports, long outputs), or fetch one of it."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> tuple[list[Json], bytes]:
        async with clients.looking(clients.Target(home=home, url=url)) as client:
            order_id = (await client.order(order))["agent_work_order_id"]
            found = await client.artifacts(order_id)
            if which is None:
                return found, b""
            one = _chosen(found, which)
            return [one], await client.artifact(order_id, one["sha256"])

    found, content = wait_for(ask)
    if which is not None and to is not None:
        _write(to, content)
    if as_json:
        print_json({"artifacts": found})
    elif which is None:
        screen = Screen()
        if not found:
            screen.line("It has kept none.")
            return
        rows = [
            [one["sha256"][:12], str(one["size_bytes"]), one["task"] or "", one["name"]]
            for one in found
        ]
        screen.table(["hash", "bytes", "task", "name"], rows)
    elif to is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.flush()


def _chosen(found: list[Json], which: str) -> Json:
    from agent_work_orders.cli.outcome import Told

    # What was kept last is what is meant by a name.
    named = [one for one in found if one["name"] == which]
    hashed = [one for one in found if len(which) >= 4 and one["sha256"].startswith(which)]
    hashes = {one["sha256"] for one in hashed}
    if named or len(hashes) == 1:
        return (named or hashed)[-1]
    raise Told(
        "artifact_unknown" if not hashes else "artifact_ambiguous",
        f"The order has {'no' if not hashes else 'several'} such artifact: {which[:80]!r}",
        hint="`awo artifacts ORDER` lists what the order kept",
        field="ARTIFACT",
    )


def _write(file: Path, content: bytes) -> None:
    from agent_work_orders.cli.outcome import Told

    try:
        with file.open("xb") as opened:
            opened.write(content)
    except OSError as error:
        raise Told(
            "file_unwritable",
            f"{file} cannot be written ({error.strerror})",
            hint="Name a file that does not exist, in a folder that does",
            field="--to",
        ) from None


@guarded
def checkout(
    order: options.Order,
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]", help="A folder that is empty or not there.  [default: the order's id]"
        ),
    ] = None,
    home: options.Home = None,
    as_json: options.Json = False,
) -> None:
    """Put an order's work into a folder of your own, as a git repository on the order's branch.

    Of any order, whatever became of it; what an agent had not finished when it failed or ran out of
    time is the last commit. Nothing of the order changes.
    """
    from agent_work_orders import settings as setting
    from agent_work_orders.bootstrap import open_archive
    from agent_work_orders.cli.screen import Screen, print_json, short
    from agent_work_orders.security.roles import LOCAL_OPERATOR
    from agent_work_orders.work_orders import checkout as work

    settings = setting.load(home=home)

    async def ask() -> work.CheckedOut:
        # Beside whoever owns the directory: only read.
        async with open_archive(settings) as context:
            return await work.check_out(context, order, LOCAL_OPERATOR, folder)

    done = wait_for(ask)
    if as_json:
        import msgspec

        print_json(msgspec.to_builtins(done))
        return
    screen = Screen()
    screen.marked("ok", f"{done.folder}: {done.branch} at {done.commit[:12]}", indent=0)
    if done.unfinished_task is not None:
        text = f"its last commit is what {done.unfinished_task} had not finished when it failed"
        screen.marked("note", text, indent=0)
    screen.pairs([("see", f"git -C {done.folder} log --stat {done.base[:12]}..")])
    screen.pairs([("retry", f"awo retry {short(done.agent_work_order_id)}")])
