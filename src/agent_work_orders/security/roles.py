"""Who may do what. Roles build on each other; repositories narrow them further."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_work_orders.errors import Forbidden, NotFound

Role = Literal["viewer", "operator", "approver", "admin"]
Action = Literal["read", "operate", "approve", "administer"]

# An approver may also operate; an operator may not approve what they started.
_ALLOWED: dict[Role, frozenset[Action]] = {
    "viewer": frozenset({"read"}),
    "operator": frozenset({"read", "operate"}),
    "approver": frozenset({"read", "operate", "approve"}),
    "admin": frozenset({"read", "operate", "approve", "administer"}),
}


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks. `local` is the operator of this machine, with the generated local key."""

    name: str
    role: Role
    repositories: tuple[str, ...] | None = None
    local: bool = False

    def may(self, action: Action) -> bool:
        return action in _ALLOWED[self.role]

    def need(self, action: Action) -> None:
        if not self.may(action):
            raise Forbidden(
                "role_insufficient",
                f"The role {self.role} may not {action}",
                hint="Ask an administrator for a key with a higher role.",
            )

    def sees(self, repository: str) -> bool:
        return self.repositories is None or repository in self.repositories

    def need_repository(self, repository: str) -> None:
        """What a caller may not see does not exist for them."""
        if not self.sees(repository):
            raise NotFound(
                "not_found",
                "There is no such thing, or none that you may see",
                hint="Ask an administrator for a key that sees the repository.",
            )


LOCAL_OPERATOR = Caller(name="local", role="admin", local=True)


def is_local(name: str) -> bool:
    """Whether a recorded name is the local operator's: keys have names of another form."""
    return name == LOCAL_OPERATOR.name
