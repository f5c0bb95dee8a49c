"""What no order needs is removed at the start; what cannot be removed is said."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog
from site_bench import Site

from agent_work_orders.cli import checkup
from agent_work_orders.sandbox_manager import trees
from agent_work_orders.settings import load


async def test_what_cannot_be_removed_is_logged_and_shown_by_doctor(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    structlog.reset_defaults()  # to the standard output, whatever another test has set
    order_id = await site.submit()
    await site.until(order_id, "completed")
    stuck = site.home / "workspaces" / order_id
    while stuck.exists():
        await site.restart()
    stuck.mkdir()
    remove = trees.remove

    def refuse(folder: Path) -> None:
        if folder == stuck:
            raise PermissionError(folder)
        remove(folder)

    async def doctor() -> checkup.Finding:
        settings = load({}, home=site.home)
        return next(one for one in await checkup.examine(settings) if one.check == "workspaces")

    with monkeypatch.context() as patched:
        patched.setattr(trees, "remove", refuse)
        capsys.readouterr()
        await site.restart()
        identifier = f"git_worktree-{order_id}"
        assert site.rooms.sandboxes.unremoved == [identifier]
        [line] = [row for row in capsys.readouterr().out.splitlines() if "cleanup_failed" in row]
        assert identifier in line
        found = await doctor()
        assert found.status == "warning" and order_id in found.detail and found.hint
    await site.restart()
    assert site.rooms.sandboxes.unremoved == []
    assert (await doctor()).status == "ok"
