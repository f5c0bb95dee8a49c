"""Webhook deliveries: what came from GitHub and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json

app = typer.Typer(no_args_is_help=True, help="Webhook deliveries of GitHub.")

DeliveryId = Annotated[str, typer.Argument(metavar="DELIVERY", help="Its GUID.")]


@app.command("list")
@guarded
def list_deliveries(
    state: Annotated[
        str | None, typer.Option("--state", help="waiting, handled, ignored or failed.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500)] = 50,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """List what came from GitHub, newest first."""
    from agent_work_orders.cli import delivery_operations
    from agent_work_orders.cli.screen import Screen, print_json

    found = wait_for(lambda: delivery_operations.page(home, url, state, limit))
    if as_json:
        print_json({"deliveries": found})
        return
    screen = Screen()
    if not found:
        screen.line("No deliveries.")
        return
    rows = [[one["delivery_id"], one["event"], one["state"], one["why"]] for one in found]
    screen.table(["delivery", "event", "state", "why"], rows)


@app.command("show")
@guarded
def show(
    delivery_id: DeliveryId,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Show one delivery."""
    from agent_work_orders.cli import delivery_operations

    _tell(wait_for(lambda: delivery_operations.find(home, url, delivery_id)), as_json)


@app.command("retry")
@guarded
def retry(
    delivery_id: DeliveryId,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Have a failed delivery handled again; without a server, at its next start."""
    from agent_work_orders.cli import delivery_operations

    _tell(wait_for(lambda: delivery_operations.retry(home, url, delivery_id)), as_json)


def _tell(found: Json, as_json: bool) -> None:
    from agent_work_orders.cli.screen import Screen, print_json

    if as_json:
        print_json({"delivery": found})
        return
    screen = Screen()
    for name in ("delivery_id", "event", "state", "why", "attempts", "received_at", "settled_at"):
        screen.line(f"{name.ljust(12)} {found[name] if found[name] is not None else ''}".rstrip())
