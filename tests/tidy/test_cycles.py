"""No module needs, at run time, one that needs it: also not by an import inside of a function."""

from __future__ import annotations

import grimp


def graph() -> dict[str, set[str]]:
    found = grimp.build_graph(
        "agent_work_orders", "github_simulator", exclude_type_checking_imports=True, cache_dir=None
    )
    return {name: found.find_modules_directly_imported_by(name) for name in found.modules}


def cycles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Modules that reach each other, by Tarjan's algorithm without recursion."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    found = []
    for root in sorted(imports):
        if root in number:
            continue
        number[root] = low[root] = len(number)
        open_.append(root)
        way = [(root, iter(sorted(imports[root])))]
        while way:
            at, rest = way[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    open_.append(other)
                    way.append((other, iter(sorted(imports.get(other, ())))))
                    break
                if other in open_:
                    low[at] = min(low[at], number[other])
            else:
                way.pop()
                if way:
                    low[way[-1][0]] = min(low[way[-1][0]], low[at])
                if low[at] == number[at]:
                    cut = open_.index(at)
                    found += [sorted(open_[cut:])] if len(open_) - cut > 1 else []
                    del open_[cut:]
    return found


def test_cycles_are_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_modules_import_each_other() -> None:
    assert cycles(graph()) == []
