"""`awo up`: the server on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded


@guarded
def up(
    host: Annotated[
        str | None,
        typer.Option("--host", envvar="AWO_HOST", help="Where to listen.  [default: 127.0.0.1]"),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", envvar="AWO_PORT", help="0 takes a free one.  [8420]")
    ] = None,
    home: options.Home = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say where it listens as one JSON document.")
    ] = False,
) -> None:
    """Start the server: it takes up every open order and serves the API.

    It logs to stderr. SIGTERM or Ctrl-C lets running tasks end for a while, then leaves the rest
    for the next start; nothing is lost.
    """
    from agent_work_orders import settings as setting
    from agent_work_orders.api.server import serve
    from agent_work_orders.bootstrap import LOCAL_KEY, House
    from agent_work_orders.cli.screen import Screen, print_json
    from agent_work_orders.observability import logs
    from agent_work_orders.security.redaction import Redactor

    settings = setting.load(host=host, port=port, home=home)
    _refuse_second(settings.home)
    redactor = Redactor([settings.anthropic_api_key])
    pretty = sys.stderr.isatty()
    logs.configure(level=settings.log_level, pretty=pretty, redact=redactor.value)

    def ready(url: str, _house: House) -> None:
        key = settings.home / LOCAL_KEY
        if as_json:
            print_json({"url": url, "home": str(settings.home), "key_file": str(key)})
            return
        screen = Screen()
        screen.heading(f"Agent Work Orders listens at {url}")
        screen.pairs([("data", str(settings.home)), ("key", f"in {key}"), ("docs", f"{url}/docs")])

    raise typer.Exit(serve(settings, on_ready=ready))


def _refuse_second(home: Path) -> None:
    """Said before a port is tried: the port is most likely the other server's too."""
    from agent_work_orders.cli.outcome import Told
    from agent_work_orders.state_manager.lock import read_owner

    owner = read_owner(home)
    if owner is not None:
        at = f" at {owner.url}" if owner.url else ""
        raise Told(
            "data_directory_in_use",
            f"{home} is used by process {owner.pid}{at}",
            hint="Talk to that server, stop it, or choose another --home",
            field="--home",
        )
