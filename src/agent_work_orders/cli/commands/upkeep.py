"""Keeping an installation well: doctor, audit, keys, version."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json
    from agent_work_orders.settings import Settings
    from agent_work_orders.settings.home import Place

audit = typer.Typer(no_args_is_help=True, help="The audit log.")
keys = typer.Typer(no_args_is_help=True, help="API keys.")


@guarded
def version(as_json: options.Json = False) -> None:
    """Show the version."""
    from agent_work_orders import __version__
    from agent_work_orders.cli.screen import Screen, print_json

    if as_json:
        print_json({"version": __version__})
    else:
        Screen().line(f"awo {__version__}")


@guarded
def show_home(home: options.Home = None, as_json: options.Json = False) -> None:
    """Show where the data directory is, and why there."""
    from agent_work_orders import settings as setting
    from agent_work_orders.cli.screen import Screen, print_json
    from agent_work_orders.settings import home as homes

    chosen = setting.load(home=home).home
    place = homes.find({**os.environ, "AWO_HOME": "" if home is None else str(home)}, Path.cwd())
    why = place.why
    if home is not None:
        why = "AWO_HOME names it" if os.environ.get("AWO_HOME") == str(home) else "--home names it"
    root = place.repository
    others = [] if root is None else homes.of_same_name(os.environ, root)
    passed_over = place.passed_over
    if as_json:
        print_json(
            {
                "home": str(chosen),
                "why": why,
                "exists": chosen.is_dir(),
                "repository": root and str(root),
                "passed_over": passed_over and str(passed_over),
                "of_same_name": list(map(str, others)),
            }
        )
        return
    screen = Screen()
    screen.line(str(chosen))
    screen.pairs(
        [
            ("why", why),
            ("", None if chosen.is_dir() else "It is made when something is first kept in it."),
            ("move it", _moved(place, chosen)),
            ("not used", f"{passed_over}: git tracks it" if passed_over else None),
            ("others", ", ".join(map(str, others)) and "of repositories of the same name:"),
        ]
    )
    for one in others:
        screen.line(str(one), indent=10)


def _moved(place: Place, chosen: Path) -> str | None:
    """How to bring one that lies in the repository to where nothing cleans it away."""
    from agent_work_orders.settings import home as homes

    if place.repository is None or place.repository not in chosen.parents:
        return None
    to = homes.outside(os.environ, place.repository)
    return (
        f"git clean -x removes it here; when nothing runs: mkdir -p {to.parent} && mv {chosen} {to}"
    )


@guarded
def doctor(
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="First make the lists of orders again from the journal."),
    ] = False,
    home: options.Home = None,
    as_json: options.Json = False,
) -> None:
    """Check this machine and the data directory. Exits 1 when something is broken."""
    from agent_work_orders import settings as setting
    from agent_work_orders.cli.checkup import examine
    from agent_work_orders.cli.screen import Screen, print_json

    settings = setting.load(home=home)
    rebuilt = wait_for(lambda: _rebuild(settings)) if rebuild else None
    found = wait_for(lambda: examine(settings))
    well = all(one.status != "error" for one in found)
    if as_json:
        import msgspec

        checks = msgspec.to_builtins(found)
        print_json({"healthy": well, "rebuilt_runs": rebuilt, "checks": checks})
    else:
        screen = Screen()
        if rebuilt is not None:
            screen.marked("ok", f"rebuilt from the journal: {rebuilt} runs", indent=0)
        width = max(len(one.check) for one in found)
        for one in found:
            screen.marked(one.status, f"{one.check.ljust(width)}  {one.detail}", indent=0)
            if one.hint:
                screen.line(one.hint, indent=width + 12)
    raise typer.Exit(0 if well else 1)


async def _rebuild(settings: Settings) -> int:
    from agent_work_orders.bootstrap import open_upkeep
    from agent_work_orders.work_orders.read_side.rebuild import rebuild

    async with open_upkeep(settings) as context:
        return (await rebuild(context)).runs


@audit.command("list")
@guarded
def audit_list(
    order: Annotated[
        str | None, typer.Option("--order", metavar="ORDER", help="Only what concerns this order.")
    ] = None,
    after: Annotated[int, typer.Option("--after", min=0, help="Only rows after this number.")] = 0,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="How many rows.")] = 100,
    home: options.Home = None,
    as_json: options.Json = False,
) -> None:
    """List who did what and when, oldest first."""
    from agent_work_orders import settings as setting
    from agent_work_orders.api import views
    from agent_work_orders.bootstrap import open_archive
    from agent_work_orders.cli.screen import Screen, json_text, print_json
    from agent_work_orders.security.roles import LOCAL_OPERATOR
    from agent_work_orders.work_orders import find

    async def ask() -> list[Json]:
        async with open_archive(setting.load(home=home)) as context:
            wanted = (
                order and (await find.record_of(context, order, LOCAL_OPERATOR)).agent_work_order_id
            )
            rows = await context.store.audit.page(after=after, limit=limit, order_id=wanted)
            return [views.audit(row) for row in rows]

    found = wait_for(ask)
    if as_json:
        print_json({"entries": found, "next_after": found[-1]["n"] if found else after})
        return
    rows = [
        [str(one["n"]), one["at"], one["who"], one["what"], _about(one), json_text(one["details"])]
        for one in found
    ]
    Screen().table(["n", "at", "who", "what", "about", "details"], rows)


def _about(entry: Json) -> str:
    return str(entry["agent_work_order_id"] or entry["target"])


@audit.command("verify")
@guarded
def audit_verify(home: options.Home = None, as_json: options.Json = False) -> None:
    """Check that no row of the audit log was changed or removed. Exits 1 if one was."""

    from agent_work_orders import settings as setting
    from agent_work_orders.bootstrap import open_archive
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> object:
        async with open_archive(setting.load(home=home)) as context:
            return await context.store.audit.verify()

    broken = wait_for(ask)
    if as_json:
        import msgspec

        print_json({"intact": broken is None, "break": msgspec.to_builtins(broken)})
    elif broken is None:
        Screen().marked("ok", "the audit log is intact", indent=0)
    else:
        at, why = getattr(broken, "n", "?"), getattr(broken, "reason", "")
        Screen().marked("error", f"row {at}: {why}", indent=0)
    raise typer.Exit(0 if broken is None else 1)


@keys.command("create")
@guarded
def key_create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is.")],
    role: Annotated[
        str, typer.Option("--role", help="viewer, operator, approver or admin.")
    ] = "operator",
    repo: Annotated[
        list[str] | None,
        typer.Option("--repo", metavar="URL_OR_PATH", help="Only these repositories; else all."),
    ] = None,
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Make an API key. Its token is shown this once."""
    from agent_work_orders.cli import key_operations
    from agent_work_orders.cli.screen import Screen, print_json

    answer = wait_for(lambda: key_operations.create(home, url, name, role, repo))
    if as_json:
        print_json(answer)
        return
    screen = Screen()
    screen.marked("ok", f"{answer['key']['key_id']} ({role})", indent=0)
    screen.line(f"Token, shown only now: {answer['token']}")


@keys.command("list")
@guarded
def key_list(
    home: options.Home = None, url: options.Url = None, as_json: options.Json = False
) -> None:
    """List the API keys, without their secrets."""
    from agent_work_orders.cli import key_operations
    from agent_work_orders.cli.screen import Screen, print_json

    found = wait_for(lambda: key_operations.every(home, url))
    if as_json:
        print_json({"keys": found})
        return
    screen = Screen()
    if not found:
        screen.line("No keys. The local key of the data directory is not listed here.")
        return
    rows = [[one["key_id"], one["role"], _state(one), one["name"]] for one in found]
    screen.table(["key", "role", "state", "name"], rows)


@keys.command("revoke")
@guarded
def key_revoke(
    key_id: Annotated[str, typer.Argument(metavar="KEY")],
    home: options.Home = None,
    url: options.Url = None,
    as_json: options.Json = False,
) -> None:
    """Revoke an API key, at once and for good."""
    from agent_work_orders.cli import key_operations
    from agent_work_orders.cli.screen import Screen, print_json

    key = wait_for(lambda: key_operations.revoke(home, url, key_id))
    if as_json:
        print_json({"key": key})
    else:
        Screen().marked("ok", f"{key['key_id']} is revoked", indent=0)


def _state(key: Json) -> str:
    if key["revoked_at"]:
        return f"revoked {key['revoked_at'][:10]}"
    return f"used {key['last_used_at'][:10]}" if key["last_used_at"] else "never used"
