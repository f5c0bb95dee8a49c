"""`awo up` and `awo open`: the server on this machine and its dashboard."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

NoOpen = Annotated[
    bool, typer.Option("--no-open", help="Only print the link; do not open a browser.")
]


@guarded
def up(
    host: Annotated[
        str | None,
        typer.Option("--host", help="Where to listen.  [AWO_HOST, default: 127.0.0.1]"),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65_535, help="0 takes a free one.  [AWO_PORT, default: 8420]"
        ),
    ] = None,
    home: options.Home = None,
    no_open: NoOpen = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say where it listens as one JSON document.")
    ] = False,
) -> None:
    """Start the server: it takes up every open order and serves the API and the dashboard.

    The link that it prints signs a browser in, once, within ten minutes; `awo open` gives further
    ones. On a desktop it is opened at once.

    It logs to stderr. SIGTERM or Ctrl-C lets running tasks end for a while, then leaves the rest
    for the next start; nothing is lost.
    """
    from agent_work_orders import settings as setting
    from agent_work_orders.api.server import serve
    from agent_work_orders.bootstrap import House
    from agent_work_orders.cli import browser
    from agent_work_orders.cli.screen import Screen, print_json
    from agent_work_orders.observability import logs
    from agent_work_orders.security.redaction import Redactor
    from agent_work_orders.state_manager.files import local_key
    from agent_work_orders.state_manager.sessions import local_holder

    settings = setting.load(host=host, port=port, home=home)
    _refuse_second(settings.home)
    redactor = Redactor(settings.secrets)
    pretty = sys.stderr.isatty()
    logs.configure(level=settings.server.log_level, pretty=pretty, redact=redactor.value)

    def ready(url: str, house: House) -> None:
        key = settings.home / local_key.NAME
        token = house.links.mint(local_holder(house.local_key))
        here = browser.reachable(url)
        link = f"{here}/sign-in#{token}"
        if as_json:
            print_json({"url": url, "home": str(settings.home), "key_file": str(key), "link": link})
            return
        screen = Screen()
        screen.heading(f"Agent Work Orders listens at {url}")
        screen.pairs(
            [
                ("dashboard", f"{link}  (works once, for ten minutes; then: awo open)"),
                ("data", str(settings.home)),
                ("key", f"in {key}"),
                ("docs", f"{here}/docs"),
            ]
        )
        if not no_open and screen.terminal:
            browser.show(link)

    raise typer.Exit(serve(settings, on_ready=ready, redactor=redactor))


@guarded
def open_dashboard(
    home: options.Home = None,
    url: options.Url = None,
    no_open: NoOpen = False,
    as_json: options.Json = False,
) -> None:
    """Open the dashboard of the running server, signed in.

    Prints a link that works once, within ten minutes, and opens it on a desktop.
    """
    from agent_work_orders.cli import browser
    from agent_work_orders.cli.screen import Screen, print_json

    made = wait_for(lambda: browser.link_of(home, url))
    if as_json:
        print_json(made)
        return
    screen = Screen()
    screen.line(made["link"])
    if not no_open and screen.terminal:
        browser.show(made["link"])


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
            hint="See it with `awo open` and `awo list`; wait until it ends, stop it, or choose "
            "another --home",
            field="--home",
        )
