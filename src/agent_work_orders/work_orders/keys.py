"""API keys: made and revoked, each time with a row in the audit log. `store.keys` lists them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_work_orders.errors import Refused
from agent_work_orders.repositories import url
from agent_work_orders.security.roles import Caller, Role
from agent_work_orders.state_manager.keys import ApiKey
from agent_work_orders.work_orders.context import Context

NAME = r"^[A-Za-z0-9][A-Za-z0-9 ._@-]*$"
NAME_LIMIT_CHARS = 80
"""For people who read lists and the audit log."""
_REPOSITORY_KEY = re.compile(r"[a-z0-9-]{1,41}-[0-9a-f]{16}")


async def create(
    context: Context, caller: Caller, name: str, role: Role, repositories: Sequence[str] | None
) -> tuple[ApiKey, str]:
    """The key and its token, which is told only here. `repositories` are keys or addresses; None
    sees all."""
    if len(name) > NAME_LIMIT_CHARS or not re.fullmatch(NAME, name):
        raise Refused(
            "key_name_invalid",
            f"A key's name has 1 to {NAME_LIMIT_CHARS} letters, digits, spaces and . _ @ -",
            hint="Say whose it is: a person or a program.",
            field="name",
        )
    scope = None if repositories is None else [repository_key(context, one) for one in repositories]
    key, token = await context.store.keys.create(name, role, repositories=scope)
    details = {"name": key.name, "role": key.role, "repositories": scope}
    await context.store.audit.append(
        at_ms=context.clock.now_ms(),
        who=caller.name,
        what="key.create",
        target=key.key_id,
        details=details,
    )
    return key, token


async def revoke(context: Context, caller: Caller, key_id: str) -> ApiKey:
    """At once. A second time changes nothing. NotFound."""
    key = await context.store.keys.revoke(key_id)
    await context.store.audit.append(
        at_ms=context.clock.now_ms(), who=caller.name, what="key.revoke", target=key.key_id
    )
    return key


def repository_key(context: Context, given: str) -> str:
    """A repository by its key or its address. Refused for anything that is neither."""
    if _REPOSITORY_KEY.fullmatch(given):
        return given
    return url.parse(given, origins=context.policy.git_origins).key
