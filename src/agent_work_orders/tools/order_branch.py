"""Where an order's branch stands in the mirror, and that none of its commits is missing there.

The mirror's references say it; what the store remembers (state_manager/branches.py) proves that
they are all there. A mirror that was deleted, restored from an older copy or fetched anew has the
origin's commits and not the order's: going on from what is left would publish less than was done.
"""

from __future__ import annotations

from agent_work_orders.errors import Environmental
from agent_work_orders.repositories import url
from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.refname import order_ref
from agent_work_orders.state_manager.branches import Branch


async def span(
    mirrors: Mirrors, repository: str, order_id: str, first_base: str
) -> tuple[str, str]:
    """The order's base and head as of now: the base is where it started, or was rebased to.
    Environmental `order_commits_missing`."""
    known = await mirrors.branches.get(order_id) if mirrors.branches is not None else None
    if not mirrors.stored(repository):
        raise missing(mirrors, repository, order_id, known.head_sha if known else first_base)
    mirror = mirrors.at(repository)
    refs = await mirror.refs(order_ref(order_id))
    base = refs.get(order_ref(order_id, "base")) or (known.base_sha if known else first_base)
    head = refs.get(order_ref(order_id, "head")) or (known.head_sha if known else base)
    needed = list(dict.fromkeys([head, base, known.head_sha if known else head]))
    for sha in await mirror.lacks(needed):
        raise missing(mirrors, repository, order_id, sha)
    return base, head


async def head_of(mirrors: Mirrors, repository: str, order_id: str) -> str:
    """The order's head; empty while it has no commit. Environmental `order_commits_missing`."""
    known = await mirrors.branches.get(order_id) if mirrors.branches is not None else None
    if known is None or known.head_sha == known.base_sha:
        if not mirrors.stored(repository):
            return ""
        return await mirrors.at(repository).ref(order_ref(order_id, "head")) or ""
    return (await span(mirrors, repository, order_id, known.base_sha))[1]


async def found(mirrors: Mirrors, address: str, order_id: str, first_base: str) -> tuple[str, str]:
    """As `span`; what only the origin has is fetched again."""
    origin = url.again(address)
    try:
        return await span(mirrors, origin.key, order_id, first_base)
    except Environmental as error:
        if error.code != "order_commits_missing":
            raise
    await mirrors.ensure(origin)
    return await span(mirrors, origin.key, order_id, first_base)


async def restored(
    mirrors: Mirrors, address: str, order_id: str, first_base: str
) -> tuple[Mirror, str, str]:
    """The mirror, base and head of an order that goes on, for whoever may move its branch: what is
    there gets back the references that a fetched mirror lacks, and is remembered."""
    base, head = await found(mirrors, address, order_id, first_base)
    repository = url.again(address).key
    mirror = mirrors.at(repository)
    refs = await mirror.refs(order_ref(order_id))
    for name, sha, before in (("base", base, first_base), ("head", head, base)):
        if order_ref(order_id, name) not in refs and sha != before:
            await mirror.keep(order_ref(order_id, name), sha)
    await note(mirrors, repository, order_id, base, head)
    return mirror, base, head


async def note(mirrors: Mirrors, repository: str, order_id: str, base: str, head: str) -> None:
    """Remember, durably, what the mirror must have from now on."""
    if mirrors.branches is None:
        return
    now = Branch(order_id=order_id, repository=repository, base_sha=base, head_sha=head)
    if await mirrors.branches.get(order_id) != now:
        await mirrors.branches.keep(now)


def missing(mirrors: Mirrors, repository: str, order_id: str, sha: str) -> Environmental:
    place = mirrors.path(repository)
    return Environmental(
        "order_commits_missing",
        f"Commit {sha[:12]} of {order_id} is not in the stored copy of its repository: the copy "
        "was lost or replaced, and going on without it would lose work",
        hint="Nothing was done. Bring the commits back (unpack a backup's bundle: `git -C "
        f"{place} fetch BUNDLE 'refs/awo/*:refs/awo/*'`, or put the folder back) and retry the "
        "order; or cancel it and create it again.",
        commit=sha,
    )
