"""`awo github …`: connecting to GitHub, and finding out whether the connection holds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.github_integration.account import Remark

app = typer.Typer(no_args_is_help=True, help="The connection to GitHub.")


@app.command("setup")
@guarded
def setup(
    organization: Annotated[
        str, typer.Option("--org", help="Make the App for an organization instead of yourself.")
    ] = "",
    name: Annotated[str, typer.Option("--name", help="The App's name; unique on GitHub.")] = "",
    webhook_url: Annotated[
        str,
        typer.Option(
            "--webhook-url",
            help="Where GitHub sends events.  [default: AWO_PUBLIC_URL/webhook/github, else none]",
        ),
    ] = "",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, help="Of the page on this machine.")
    ] = 0,
    patience_s: Annotated[
        float, typer.Option("--wait", min=0, help="Seconds to wait for you in the browser.")
    ] = 600.0,
    again: Annotated[
        bool, typer.Option("--again", help="Make another App although one is configured.")
    ] = False,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Only print the link; do not open a browser.")
    ] = False,
    home: options.Home = None,
    as_json: options.Json = False,
) -> None:
    """Make a GitHub App for this server in the browser, and keep its key sealed here.

    The App gets the permissions and events that orders need. Afterwards `awo up` works without
    any setting; the environment still goes before what is kept.
    """
    from agent_work_orders.cli import browser, github_setup
    from agent_work_orders.cli.screen import Screen, print_json

    screen = Screen(quiet=as_json)

    def tell(url: str) -> None:
        # Also for who reads only the document: somebody has to open it.
        print(f"Open {url} in a browser on this machine.", file=sys.stderr, flush=True)
        if not no_open and screen.terminal:
            browser.show(url)

    asked = github_setup.AppRequest(
        organization=organization,
        name=name,
        webhook_url=webhook_url,
        port=port,
        patience_s=patience_s,
        again=again,
    )
    made = wait_for(lambda: github_setup.set_up(home, asked, tell))
    install = f"{made.html_url}/installations/new"
    screen.marked("ok", f"App {made.slug} ({made.id}) is made; its key is sealed here", indent=0)
    print(f"Install it: {install}", file=sys.stderr, flush=True)
    if not no_open and screen.terminal:
        browser.show(install)
    found = wait_for(lambda: github_setup.until_installed(home, patience_s))
    if as_json:
        app_told = {"id": made.id, "slug": made.slug, "install_url": install}
        print_json({"app": app_told, **_document(found)})
    else:
        _show(screen, found)
        screen.line()
        screen.line("Start the server: awo up", indent=2)
    raise typer.Exit(0 if _well(found) else 1)


@app.command("check")
@guarded
def check(home: options.Home = None, as_json: options.Json = False) -> None:
    """Ask GitHub whether it takes our credentials, and what they lack.

    Exits 1 when something is missing; each line says how to mend it.
    """
    from agent_work_orders.cli import github_setup
    from agent_work_orders.cli.screen import Screen, print_json

    found = wait_for(lambda: github_setup.check(home))
    if as_json:
        print_json(_document(found))
    else:
        _show(Screen(), found)
    raise typer.Exit(0 if _well(found) else 1)


def _well(found: list[Remark]) -> bool:
    return all(one.status != "error" for one in found)


def _document(found: list[Remark]) -> dict[str, Any]:
    import msgspec

    return {"healthy": _well(found), "checks": msgspec.to_builtins(found)}


def _show(screen: Any, found: list[Remark]) -> None:
    width = max(len(one.about) for one in found)
    for one in found:
        screen.marked(one.status, f"{one.about.ljust(width)}  {one.detail}", indent=0)
        if one.hint:
            screen.line(one.hint, indent=width + 12)
