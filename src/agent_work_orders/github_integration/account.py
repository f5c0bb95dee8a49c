"""Where GitHub is and as whom we are there."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_work_orders.security.outbound import Outbound


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """An App, else a plain token."""

    api_url: str
    server_url: str
    app_id: int | str = ""
    """Its number, or its client id."""
    private_key: str = ""
    installation_id: int = 0
    token: str = ""
    timeout_s: float = 30.0
    """For one request, from connecting to the last byte."""
    webhooks: bool = False
    """Whether deliveries are expected."""
    public_url: str = ""
    """Of the dashboard: what we write may link there."""
    outbound: Outbound = Outbound()

    @property
    def usable(self) -> bool:
        return bool(self.app_id or self.token)


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """A permission that something configured here will ask for, beyond what all orders need."""

    permission: str
    level: str
    of: str
    """What asks for it, as its author calls it."""


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out about our credentials, and what to do about it."""

    about: str
    status: Literal["ok", "warning", "error"]
    detail: str
    hint: str = ""
