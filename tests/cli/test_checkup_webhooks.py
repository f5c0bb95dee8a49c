"""What `awo doctor` says of deliveries that come while the server is down."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_work_orders.cli import checkup
from agent_work_orders.settings import Settings, changed

SECRET = ("a-secret-of-tests",)


@pytest.mark.fault("C7")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, None),
        ({"github.token": "t"}, ("warning", "no secret")),
        ({"github.token": "t", "github.webhook_secret": SECRET}, ("warning", "plain token")),
        ({"github.app_id": "1", "github.webhook_secret": SECRET}, ("ok", "asked for again")),
    ],
    ids=["nothing", "no secret", "token", "app"],
)
def test_missed_deliveries(tmp_path: Path, given: dict[str, object], said: object) -> None:
    settings = changed(Settings(home=tmp_path), given)
    found = [(one.status, one.detail) for one in checkup._webhooks(settings)]
    if said is None:
        assert found == []
    else:
        assert isinstance(said, tuple)
        [(status, detail)] = found
        assert status == said[0] and said[1] in detail
