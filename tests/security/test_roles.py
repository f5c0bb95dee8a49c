"""Who may do what, and what does not exist for whom."""

from __future__ import annotations

import pytest

from agent_work_orders.errors import Forbidden, NotFound
from agent_work_orders.security.roles import LOCAL_OPERATOR, Action, Caller, Role

TABLE: dict[Role, set[Action]] = {
    "viewer": {"read"},
    "operator": {"read", "operate"},
    "approver": {"read", "operate", "approve"},
    "admin": {"read", "operate", "approve", "administer"},
}


@pytest.mark.parametrize("role", TABLE)
def test_a_role_may_do_exactly_its_part(role: Role) -> None:
    caller = Caller(name="x", role=role)
    actions: tuple[Action, ...] = ("read", "operate", "approve", "administer")
    for action in actions:
        assert caller.may(action) is (action in TABLE[role])
        if action not in TABLE[role]:
            with pytest.raises(Forbidden, match=action):
                caller.need(action)


def test_repositories_narrow_a_role() -> None:
    caller = Caller(name="x", role="admin", repositories=("a-1",))
    assert caller.sees("a-1") and not caller.sees("b-2")
    caller.need_repository("a-1")
    with pytest.raises(NotFound):
        caller.need_repository("b-2")
    assert not Caller(name="x", role="admin", repositories=()).sees("a-1")


def test_the_local_operator_sees_everything() -> None:
    assert LOCAL_OPERATOR.local and LOCAL_OPERATOR.may("administer")
    assert LOCAL_OPERATOR.sees("anything")
