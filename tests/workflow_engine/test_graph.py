from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.workflow_engine import graph

EDGES = st.integers(1, 9).flatmap(
    lambda size: st.lists(
        st.sets(st.integers(0, size - 1), max_size=3), min_size=size, max_size=size
    )
)


def _needs(edges: list[set[int]], *, forward_only: bool) -> dict[str, list[str]]:
    return {
        f"n{at}": [f"n{need}" for need in sorted(needs) if not forward_only or need < at]
        for at, needs in enumerate(edges)
    }


def _order(needs: dict[str, list[str]]) -> list[str]:
    return graph.order(needs, graph.dependants(needs))


def _reach(needs: dict[str, list[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(needs[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += needs[name]
    return seen


@given(EDGES)
def test_everything_comes_after_what_it_needs(edges: list[set[int]]) -> None:
    needs = _needs(edges, forward_only=True)
    ordered = _order(needs)
    assert sorted(ordered) == sorted(needs)
    for name, before in needs.items():
        assert all(ordered.index(need) < ordered.index(name) for need in before)
    assert graph.cycles(needs, ordered) == []


@given(EDGES)
def test_ancestry_is_reachability(edges: list[set[int]]) -> None:
    needs = _needs(edges, forward_only=True)
    ancestry = graph.Ancestry(needs, _order(needs))
    for name in needs:
        reached = _reach(needs, name)
        assert {other for other in needs if ancestry.before(other, name)} == reached


@pytest.mark.fault("L4")
@given(EDGES)
def test_every_cycle_shown_is_one_and_one_is_shown_if_any(edges: list[set[int]]) -> None:
    needs = _needs(edges, forward_only=False)
    found = graph.cycles(needs, _order(needs))
    cyclic = {name for name in needs if name in _reach(needs, name)}
    assert bool(found) == bool(cyclic)
    for cycle in found:
        assert cycle[0] == cycle[-1]
        for name, need in pairwise(cycle):
            assert need in needs[name]
    for name in cyclic:  # nothing cyclic is left unmentioned, itself or through what it needs
        mentioned = {member for cycle in found for member in cycle}
        assert mentioned & ({name} | _reach(needs, name))


@pytest.mark.fault("L4")
def test_a_self_edge_is_a_cycle() -> None:
    needs = {"a": ["a"], "b": []}
    assert graph.cycles(needs, _order(needs)) == [["a", "a"]]


def test_a_long_chain_does_not_recurse() -> None:
    needs = {f"n{at}": [f"n{at - 1}"] if at else [] for at in range(10_000)}
    ordered = _order(needs)
    assert len(ordered) == 10_000
    ancestry = graph.Ancestry(needs, ordered)
    assert ancestry.before("n0", "n9999")
    assert not ancestry.before("n9999", "n0")
    needs["n0"] = ["n9999"]
    (cycle,) = graph.cycles(needs, _order(needs))
    assert len(cycle) == 10_001


def test_dependants_turn_the_edges_round() -> None:
    assert graph.dependants({"a": [], "b": ["a"], "c": ["a", "b"]}) == {
        "a": ("b", "c"),
        "b": ("c",),
        "c": (),
    }
