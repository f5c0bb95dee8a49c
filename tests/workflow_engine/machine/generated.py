"""Plans and scripts of every shape: loops in fan-outs in groups, children, gates, policies."""

from __future__ import annotations

from typing import Any

import plans
from driver import Script
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_work_orders.workflow_engine.plan import Body, OnFailure, Plan, Retry, Task

JOINS = st.sampled_from(["all_succeeded", "all_succeeded", "any_succeeded", "all_done"])
ALL_POLICIES: tuple[OnFailure, ...] = ("fail", "fail", "continue", "rollback", "pause")
QUIET_POLICIES: tuple[OnFailure, ...] = ("fail", "fail", "continue", "rollback")
KINDS = ("tool", "tool", "tool", "gate", "group", "repeat", "foreach", "workflow")
MAX_DEPTH = 3


def plans_of(policies: tuple[OnFailure, ...]) -> st.SearchStrategy[Plan]:
    return _plans(policies)


@st.composite
def _plans(draw: st.DrawFn, policies: tuple[OnFailure, ...]) -> Plan:
    builder = _Builder(draw, policies)
    inner = builder.body(1, children=False) if draw(st.booleans()) else None
    children = {}
    if inner is not None:
        last = list(inner.tasks)[-1]
        shown = {"state": f"{{{{ tasks.{last}.state }}}}"}
        children["inner"] = Plan(name="inner", body=inner, outputs=shown, output_refs=(last,))
    main = builder.body(0, children=inner is not None)
    return Plan(name="main", body=main, children=children)


class _Builder:
    def __init__(self, draw: st.DrawFn, policies: tuple[OnFailure, ...]) -> None:
        self._draw = draw
        self._policies = st.sampled_from(policies)
        self._count = 0

    def body(self, depth: int, *, children: bool) -> Body:
        tasks: list[Task] = []
        for _ in range(self._draw(st.integers(2, 5) if depth == 0 else st.integers(1, 3))):
            tasks.append(self.task(depth, [task.id for task in tasks], children=children))
        return plans.body(*tasks)

    def task(self, depth: int, before: list[str], *, children: bool) -> Task:
        draw = self._draw
        self._count += 1
        id = f"t{self._count}"
        needs = tuple(name for name in before if draw(st.booleans()))
        fields: dict[str, Any] = {"on_failure": draw(self._policies)}
        if needs:
            fields["join"] = draw(JOINS)
            fields |= draw(st.sampled_from(_conditions(needs[0])))
        if draw(st.integers(0, 5)) == 5:
            fields["approval"] = plans.ASK
        wanted = [kind for kind in KINDS if children or kind != "workflow"]
        kind = draw(st.sampled_from(wanted if depth < MAX_DEPTH else wanted[:4]))
        return self._of_kind(kind, id, needs, depth, fields, children=children)

    def _of_kind(
        self,
        kind: str,
        id: str,
        needs: tuple[str, ...],
        depth: int,
        fields: dict[str, Any],
        *,
        children: bool,
    ) -> Task:
        draw = self._draw
        if kind == "gate":
            return plans.gate(id, *needs, **fields)
        if kind == "workflow":
            return plans.child(id, "inner", *needs, **fields)
        if kind == "tool":
            return plans.tool(id, *needs, **self._tool(needs), **fields)
        if kind == "foreach":
            few = st.sampled_from([[], ["a"], ["a", "b"], ["a", "b", "c"], "not a list"])
            items: Any = draw(few)
            if needs and draw(st.booleans()):
                items = f"{{{{ tasks.{needs[0]}.outputs.list | default(['x']) }}}}"
            inner = [k for k in ("tool", "group", "repeat", "workflow") if children or k[0] != "w"]
            kind = draw(st.sampled_from(inner if depth + 1 < MAX_DEPTH else inner[:1]))
            each = self._of_kind(kind, id, (), depth + 1, {}, children=children)
            if kind == "tool":
                each = replace(each, with_={"item": "{{ item }}", "index": "{{ index }}"})
            parallel = draw(st.sampled_from([1, 2, 1_000]))
            return plans.foreach(id, items, each, needs=needs, parallel=parallel, **fields)
        inner_body = self.body(depth + 1, children=children)
        tasks = tuple(inner_body.tasks.values())
        if kind == "group":
            return plans.group(id, *tasks, needs=needs, **fields)
        last = tasks[-1].id
        until = draw(
            st.sampled_from(
                [
                    None,
                    "iteration >= 2",
                    f"has(tasks.{last}.outputs.ok) && tasks.{last}.outputs.ok",
                    f"tasks.{last}.outputs.ok",
                ]
            )
        )
        most = draw(st.integers(1, 3))
        return plans.repeat(id, *tasks, needs=needs, until=until, max_iterations=most, **fields)

    def _tool(self, needs: tuple[str, ...]) -> dict[str, Any]:
        draw = self._draw
        given: dict[str, Any] = {"previous": "{{ previous | default({}) | length }}"}
        if needs:
            given["seen"] = f"{{{{ tasks.{needs[0]}.state }}}}"
            if draw(st.integers(0, 9)) == 9:
                given["missing"] = f"{{{{ tasks.{needs[0]}.outputs.nothing }}}}"
        undo = draw(st.sampled_from([None, plans.UNDO]))
        retry = Retry(attempts=draw(st.integers(1, 3)))
        prompts = draw(st.booleans())
        return {"with_": given, "undo": undo, "retry": retry, "takes_prompts": prompts}


def _conditions(need: str) -> list[dict[str, str]]:
    return [
        {},
        {},
        {},
        {"when": f"tasks.{need}.state == 'succeeded'"},
        {"when": f"tasks.{need}.outputs.n > 1"},
    ]


ANSWERS = st.lists(
    st.sampled_from(["succeed", "transient", "permanent", "park", "lose"]), min_size=1, max_size=4
).map(lambda found: ("succeed", *found))


def scripts(decisions: tuple[str, ...] = ("approve", "reject", "expire")) -> Any:
    return st.builds(
        Script,
        answers=ANSWERS,
        decisions=st.lists(st.sampled_from(decisions), min_size=1, max_size=3).map(
            lambda found: ("approve", *found)
        ),
        undos=ANSWERS,
    )
