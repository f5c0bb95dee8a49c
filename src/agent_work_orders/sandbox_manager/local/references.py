"""What a workspace's `.git` names beside the order's own branch: the base branch and the tags of
its history, so that `git diff main...HEAD`, `git describe` and release notes work in it.

Only what the order's history has anyway: no further objects are copied for it, and no work of
others that went on since is shown.
"""

from __future__ import annotations

from agent_work_orders.repositories.mirror import Mirror
from agent_work_orders.repositories.refname import check_sha, order_ref
from agent_work_orders.sandbox_manager.sandbox import Spec


class References:
    def __init__(self, mirror: Mirror, spec: Spec) -> None:
        self.packed = b""
        """As `packed-refs` has them."""
        self._mirror = mirror
        self._spec = spec
        self._base = ""

    async def look(self) -> None:
        """Where the order stands now: it may have been rebased."""
        spec = self._spec
        if not spec.base_branch or not spec.started_from or spec.base_branch == spec.branch:
            return
        base = await self._mirror.ref(order_ref(spec.order_id, "base")) or spec.started_from
        if base == self._base:
            return
        names = [f"refs/heads/{spec.base_branch}", f"refs/remotes/origin/{spec.base_branch}"]
        found = {**await self._tags(base), **dict.fromkeys(names, base)}
        lines = "".join(f"{found[name]} {name}\n" for name in sorted(found))
        self.packed, self._base = lines.encode("utf-8", "surrogateescape"), base

    async def _tags(self, base: str) -> dict[str, str]:
        """Those of the base's history: name of the reference -> what it points at."""
        form = ["--format=%(objectname) %(refname)", f"--merged={check_sha(base)}"]
        answer = await self._mirror.git.run(
            "list tags", ["for-each-ref", *form, "refs/tags"], repository=self._mirror.path
        )
        lines = answer.stdout.decode("utf-8", "surrogateescape").splitlines()
        return {name: at for at, name in (line.split(" ", 1) for line in lines)}

    async def need(self) -> None:
        """The same, unless it is known already."""
        if not self._base:
            await self.look()
