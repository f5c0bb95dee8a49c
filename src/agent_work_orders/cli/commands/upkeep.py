"""Keeping an installation well: doctor, audit, backup, keys, version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json
    from agent_work_orders.settings import Settings

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
    rebuilt = wait_for(_rebuild(settings)) if rebuild else None
    found = wait_for(examine(settings))
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
    from agent_work_orders.work_orders.rebuild import rebuild

    async with open_upkeep(settings) as (rooms, store):
        return (await rebuild(rooms, store.journal)).runs


@audit.command("verify")
@guarded
def audit_verify(home: options.Home = None, as_json: options.Json = False) -> None:
    """Check that no row of the audit log was changed or removed. Exits 1 if one was."""
    import asyncio

    from agent_work_orders import settings as setting
    from agent_work_orders.bootstrap import open_archive
    from agent_work_orders.cli.screen import Screen, print_json

    async def ask() -> object:
        async with open_archive(setting.load(home=home)) as rooms:
            return await asyncio.to_thread(rooms.audit.verify)

    broken = wait_for(ask())
    if as_json:
        import msgspec

        print_json({"intact": broken is None, "break": msgspec.to_builtins(broken)})
    elif broken is None:
        Screen().marked("ok", "the audit log is intact", indent=0)
    else:
        at, why = getattr(broken, "n", "?"), getattr(broken, "reason", "")
        Screen().marked("error", f"row {at}: {why}", indent=0)
    raise typer.Exit(0 if broken is None else 1)


@guarded
def back_up(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="Where; must not exist yet.")],
    home: options.Home = None,
    as_json: options.Json = False,
) -> None:
    """Copy the database at one moment, also while a server runs.

    Artifacts, transcripts and mirrors are plain files beside it: copy them after this.
    """
    from agent_work_orders import settings as setting
    from agent_work_orders.cli.screen import Screen, print_json

    settings = setting.load(home=home)
    size = wait_for(_back_up(settings, target.absolute()))
    if as_json:
        print_json({"file": str(target.absolute()), "size_bytes": size})
    else:
        Screen().marked("ok", f"{target} ({size / 1024:.0f} KiB)", indent=0)


async def _back_up(settings: Settings, target: Path) -> int:
    import asyncio

    from agent_work_orders.bootstrap import open_upkeep
    from agent_work_orders.cli.outcome import Told
    from agent_work_orders.state_manager import lock
    from agent_work_orders.state_manager.sqlite.backup import backup
    from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME

    database = settings.home / DATABASE_NAME
    if not database.exists():
        raise Told(
            "nothing_to_back_up",
            f"{settings.home} holds no data yet",
            hint="Give the data directory with --home",
            field="--home",
        )
    if lock.read_owner(settings.home) is not None:
        return await asyncio.to_thread(backup, database, target)
    async with open_upkeep(settings) as (_, store):
        return await store.backup(target)


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
    from agent_work_orders.cli import key_desk
    from agent_work_orders.cli.screen import Screen, print_json

    answer = wait_for(key_desk.create(home, url, name, role, repo))
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
    from agent_work_orders.cli import key_desk
    from agent_work_orders.cli.screen import Screen, print_json

    found = wait_for(key_desk.every(home, url))
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
    from agent_work_orders.cli import key_desk
    from agent_work_orders.cli.screen import Screen, print_json

    key = wait_for(key_desk.revoke(home, url, key_id))
    if as_json:
        print_json({"key": key})
    else:
        Screen().marked("ok", f"{key['key_id']} is revoked", indent=0)


def _state(key: Json) -> str:
    if key["revoked_at"]:
        return f"revoked {key['revoked_at'][:10]}"
    return f"used {key['last_used_at'][:10]}" if key["last_used_at"] else "never used"
