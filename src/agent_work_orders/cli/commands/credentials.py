"""Credentials that are kept sealed in the data directory, instead of in the environment."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

app = typer.Typer(no_args_is_help=True, help="Credentials kept sealed in the data directory.")

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The variable that it stands for, as GITHUB_TOKEN.")
]


@app.command("set")
@guarded
def set_credential(name: Name, home: options.Home = None, as_json: options.Json = False) -> None:
    """Keep a secret: read from stdin, or asked for on a terminal. Used from the next start on.

    The environment goes before it. The server must be stopped meanwhile.
    """
    from agent_work_orders.cli import credential_operations
    from agent_work_orders.cli.screen import Screen, print_json
    from agent_work_orders.settings import refuse_unknown
    from agent_work_orders.work_orders.credentials import MAX_CHARS

    refuse_unknown(name)
    if sys.stdin.isatty():
        secret = typer.prompt(name, hide_input=True, err=True)
    else:
        secret = sys.stdin.read(MAX_CHARS + 2)
    kept = wait_for(lambda: credential_operations.keep(home, name, secret.strip()))
    if as_json:
        print_json({"credential": kept})
    else:
        Screen().marked("ok", f"{kept['name']} is kept (…{kept['last4']})", indent=0)


@app.command("list")
@guarded
def list_credentials(home: options.Home = None, as_json: options.Json = False) -> None:
    """List what is kept: names, the last four characters, and when it was set."""
    from agent_work_orders.cli import credential_operations
    from agent_work_orders.cli.screen import Screen, print_json

    found = wait_for(lambda: credential_operations.every(home))
    if as_json:
        print_json({"credentials": found})
        return
    if not found:
        Screen().line("No credentials are kept.")
        return
    rows = [[one["name"], f"…{one['last4']}", one["changed_at"]] for one in found]
    Screen().table(["name", "ends with", "set"], rows)


@app.command("remove")
@guarded
def remove(name: Name, home: options.Home = None, as_json: options.Json = False) -> None:
    """Forget a secret, for good."""
    from agent_work_orders.cli import credential_operations
    from agent_work_orders.cli.screen import Screen, print_json

    wait_for(lambda: credential_operations.remove(home, name))
    if as_json:
        print_json({"removed": name})
    else:
        Screen().marked("ok", f"{name} is no longer kept", indent=0)


@app.command("rotate")
@guarded
def rotate(home: options.Home = None, as_json: options.Json = False) -> None:
    """Seal everything with a new key, and forget the old one.

    With AWO_SECRET_KEY, put a new key before the old one first, and take the old one out after.
    """
    from agent_work_orders.cli import credential_operations
    from agent_work_orders.cli.screen import Screen, print_json

    changed = wait_for(lambda: credential_operations.rotate(home))
    if as_json:
        print_json({"resealed": changed})
    else:
        Screen().marked("ok", f"sealed with the new key: {changed}", indent=0)
