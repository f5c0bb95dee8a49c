"""What orders made, as one file: everything under refs/awo of a mirror, with its whole history.

The history is in it on purpose: a bundle that leans on the origin is worth nothing on the day when
the origin was rewritten or cannot be reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agent_work_orders.repositories.mirror import Mirror

ORDERS = "refs/awo/orders"
TIMEOUT_S = 1_800.0


async def write(mirror: Mirror, target: Path) -> dict[str, str]:
    """The references that are in it; without any there is no file. Work may go on meanwhile."""
    names = await mirror.refs(ORDERS)
    if names:
        await mirror.git.run(
            "bundle what orders made",
            ["bundle", "create", "--quiet", str(target), "--stdin"],
            repository=mirror.path,
            stdin="".join(f"{name}\n" for name in names).encode(),
            timeout_s=TIMEOUT_S,
        )
    return names


async def read(mirror: Mirror, source: Path) -> None:
    """Take up all of it; every object is checked and every link must resolve."""
    await mirror.git.run(
        "take up a bundle",
        [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--end-of-options",
            str(source),
            f"+{ORDERS}/*:{ORDERS}/*",
        ],
        repository=mirror.path,
        transport="file",
        timeout_s=TIMEOUT_S,
    )


async def turn_back(mirror: Mirror, wanted: Mapping[str, str | None]) -> None:
    """Point references at commits that are there, None for nowhere."""
    lines = "".join(
        f"delete {name}\n" if sha is None else f"update {name} {sha}\n"
        for name, sha in wanted.items()
    )
    if lines:
        await mirror.git.run(
            "turn references back",
            ["update-ref", "--stdin"],
            repository=mirror.path,
            stdin=lines.encode(),
        )
