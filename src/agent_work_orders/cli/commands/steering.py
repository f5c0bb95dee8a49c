"""Steering an order: prompt, cancel, pause, resume, retry, rollback, override."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import completion, options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Client, Json, Target, Verb
    from agent_work_orders.cli.conduct import Begin


@guarded
def prompt(
    order: options.Order,
    text: Annotated[str, typer.Argument(metavar="PROMPT", help="What to say; - reads stdin.")],
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Say something to an order's agent: it hears it at its next turn."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli import request
    from agent_work_orders.cli.screen import Screen, print_json

    said = request.prompt(text) or ""

    async def ask() -> Json:
        async with clients.acting(_place(home, url), order, hands=False) as client:
            return await client.prompt(order, said)

    answer = wait_for(ask)
    if as_json:
        print_json(answer)
    else:
        Screen().line(f"Queued for {answer['agent_work_order_id']} ({answer['prompt_id']}).")


@guarded
def cancel(
    order: options.Order,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Cancel an order. Its agent is stopped; commits stay on its branch."""
    _note("cancel", order, home, url, as_json)


@guarded
def pause(
    order: options.Order,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Pause an order after the tasks that run now."""
    _note("pause", order, home, url, as_json)


@guarded
def resume(
    order: options.Order,
    detach: options.Detach = False,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Go on with a paused order, or with one that an interrupted command left."""

    async def begin(client: Client) -> Json:
        found = await client.order(order)
        if found["status"] in ("pending", "running") and not client.remote:
            return found
        return await client.steer(found["agent_work_order_id"], "resume")

    _conduct(order, begin, home, url, as_json=as_json, detach=detach)


@guarded
def retry(
    order: options.Order,
    from_task: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TASK",
            help="Again from this task on; else what failed.",
            autocompletion=completion.tasks,
        ),
    ] = None,
    message: Annotated[
        str | None,
        typer.Option("--message", "-m", metavar="TEXT", help="Tell the next agent, with its task."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", help="The longest agent turn from now on."),
    ] = None,
    detach: options.Detach = False,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Try the failed tasks of an order again, or everything from a task on."""
    from agent_work_orders.cli import request
    from agent_work_orders.cli.outcome import Told

    said = request.prompt(message) or ""
    if message is not None and not said.strip():
        raise Told(
            "prompt_empty", "The message is empty", hint="Leave it out, or say something",
            field="--message",
        )  # fmt: skip

    async def begin(client: Client) -> Json:
        return await client.retry(order, from_task, text=said, agent_timeout_s=timeout)

    _conduct(order, begin, home, url, as_json=as_json, detach=detach)


@guarded
def rollback(
    order: options.Order,
    detach: options.Detach = False,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Undo what an order did, last first. Exits 0 when it was rolled back."""

    async def begin(client: Client) -> Json:
        return await client.steer(order, "rollback")

    _conduct(order, begin, home, url, as_json=as_json, detach=detach, good="cancelled")


@guarded
def override(
    order: options.Order,
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK",
            help="The task, as `awo show` names it.",
            autocompletion=completion.tasks,
        ),
    ],
    action: Annotated[str, typer.Argument(metavar="skip|succeed|retry")],
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="K=V", help="With succeed: an output; may be repeated."),
    ] = None,
    detach: options.Detach = False,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Decide a stuck task yourself: skip it, call it done, or try it again."""
    from agent_work_orders.cli import request
    from agent_work_orders.cli.outcome import Told

    if action not in ("skip", "succeed", "retry"):
        raise Told(
            "action_invalid",
            f"{action!r} is not something to decide",
            hint="skip, succeed or retry",
            field="ACTION",
        )
    outputs = request.outputs(output or [])

    async def begin(client: Client) -> Json:
        chosen = "skip" if action == "skip" else "succeed" if action == "succeed" else "retry"
        return await client.override(order, task, chosen, outputs)  # type: ignore[arg-type]

    _conduct(order, begin, home, url, as_json=as_json, detach=detach)


def _note(verb: Verb, wanted: str, home: Path | None, url: str | None, as_json: bool) -> None:
    """Verbs that are done once they are noted; the rest follows by itself."""
    import asyncio

    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> Json:
        async with clients.acting(_place(home, url), wanted, hands=False) as client:
            asked = await client.steer(wanted, verb)
            # Cancelling takes a moment: its agent is being stopped.
            for _ in range(50):
                order = await client.order(asked["agent_work_order_id"])
                if order["status"] in ("cancelled", "paused", "completed", "failed"):
                    return order
                await asyncio.sleep(0.1)
            return order

    order = wait_for(ask)
    if as_json:
        print_json({"agent_work_order": order})
    else:
        Screen().marked(order["status"], order["agent_work_order_id"], indent=0)


def _conduct(
    wanted: str,
    begin: Begin,
    home: Path | None,
    url: str | None,
    *,
    as_json: bool,
    detach: bool,
    good: str = "completed",
) -> None:
    """Set an order going and see it to its end, or leave that to the server."""
    from agent_work_orders.cli import client as clients
    from agent_work_orders.cli import conduct
    from agent_work_orders.cli.screen import Screen, print_json

    place = _place(home, url)
    screen = Screen(quiet=as_json)
    if not detach:
        raise typer.Exit(
            wait_for(
                lambda: conduct.conduct(
                    place, wanted, begin, as_json=as_json, screen=screen, good=good
                )
            )
        )
    clients.need_server(place, "--detach")

    async def ask() -> Json:
        async with clients.acting(place, wanted, hands=True) as client:
            return await begin(client)

    order = wait_for(ask)
    if as_json:
        print_json({"agent_work_order": order})
    screen.marked(order["status"], order["agent_work_order_id"], indent=0)


def _place(home: Path | None, url: str | None) -> Target:
    from agent_work_orders.cli.client import Target

    return Target(home=home, url=url)
