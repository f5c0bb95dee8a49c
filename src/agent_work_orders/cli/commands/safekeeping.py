"""Backup and restore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from agent_work_orders.settings import Settings
    from agent_work_orders.work_orders.backup import Kept


@guarded
def back_up(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="Where; must not exist yet.")],
    home: options.Home = None,
    as_json: options.Json = False,
) -> None:
    """Keep everything at one moment, also while a server runs.

    In it: the journal, the commits of all orders, evidence, transcripts and reviews. Not in it:
    local.key and secret.key.
    """
    from agent_work_orders import settings as setting
    from agent_work_orders.cli.screen import Screen, print_json

    settings = setting.load(home=home)
    kept = wait_for(lambda: _back_up(settings, target.absolute()))
    if as_json:
        import msgspec

        print_json({"file": str(target.absolute()), **msgspec.to_builtins(kept)})
        return
    screen = Screen()
    what = f"{kept.size_bytes / 1024:.0f} KiB, commits of {kept.repositories} repositories"
    screen.marked("ok", f"{target} ({what})", indent=0)
    for one in kept.missing:
        screen.marked("warning", f"not in it: {one}", indent=0)


async def _back_up(settings: Settings, target: Path) -> Kept:
    from agent_work_orders.bootstrap import open_upkeep
    from agent_work_orders.cli.outcome import Told
    from agent_work_orders.clock import SystemClock
    from agent_work_orders.repositories.git import Git
    from agent_work_orders.repositories.mirrors import Mirrors
    from agent_work_orders.state_manager import lock
    from agent_work_orders.state_manager.sqlite.database import DATABASE_NAME
    from agent_work_orders.work_orders.backup import back_up

    home, clock = settings.home, SystemClock()
    if not (home / DATABASE_NAME).exists():
        raise Told(
            "nothing_to_back_up",
            f"{home} holds no data yet",
            hint="Give the data directory with --home",
            field="--home",
        )
    if lock.read_owner(home) is not None:
        return await back_up(home, Mirrors(home / "mirrors", Git()), clock, target)
    async with open_upkeep(settings) as context:
        return await back_up(home, context.mirrors, clock, target)


@guarded
def restore(
    backup: Annotated[Path, typer.Argument(metavar="BACKUP", help="What `awo backup` wrote.")],
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="HOME", help="Where; must be empty or not exist yet."),
    ] = None,
    home: options.Home = None,
    as_json: options.Json = False,
) -> None:
    """Make a data directory from a backup. Exits 1 when an order lacks something.

    The backup is proved first, and the directory appears whole or not at all. Only one of two
    servers from the same backup may go on with its orders.
    """
    from agent_work_orders import settings as setting
    from agent_work_orders.bootstrap.store import store_at
    from agent_work_orders.cli.screen import Screen, print_json
    from agent_work_orders.clock import SystemClock
    from agent_work_orders.work_orders.restore import restore

    place = (to or setting.load(home=home).home).absolute()
    told = wait_for(lambda: restore(backup.absolute(), place, SystemClock(), store_at))
    if as_json:
        import msgspec

        print_json(msgspec.to_builtins(told))
    else:
        screen = Screen()
        at = f" as of {told.created_at}" if told.created_at else ""
        screen.marked("ok", f"restored into {told.home}{at}", indent=0)
        screen.marked("ok", f"{len(told.goes_on)} open orders go on with `awo up`", indent=0)
        for order_id, why in told.lacking.items():
            screen.marked("error", f"{order_id}: {why}", indent=0)
        for one in told.missing:
            screen.marked("warning", f"not in it: {one}", indent=0)
    raise typer.Exit(1 if told.lacking else 0)
