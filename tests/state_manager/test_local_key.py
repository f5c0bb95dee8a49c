"""The local operator's token is private, stable, and never empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_work_orders.state_manager.files import local_key


def test_it_is_made_once_and_for_this_user_only(tmp_path: Path) -> None:
    first = local_key.ensure(tmp_path)
    assert first.startswith("local.") and len(first) > 40
    path = tmp_path / local_key.NAME
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    assert local_key.ensure(tmp_path) == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == [local_key.NAME]


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"local.", b"local.short\n", b"\xff\xfe", b"x" * 99]
)
def test_what_a_crash_left_is_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / local_key.NAME
    path.write_bytes(content)
    path.with_suffix(".making").write_bytes(b"half")
    token = local_key.ensure(tmp_path)
    assert len(token) > 40
    assert local_key.ensure(tmp_path) == token
    assert path.stat().st_mode & 0o777 == 0o600
