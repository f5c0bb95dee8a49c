"""Everything is checked before anything is written."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from site_bench import Site, git, make_source

from agent_work_orders.errors import Conflict, Forbidden, NotFound, Refused
from agent_work_orders.security.roles import LOCAL_OPERATOR, Caller
from agent_work_orders.state_manager.records import OrderFilter
from agent_work_orders.work_orders import find, inspect
from agent_work_orders.work_orders.order_facts import OrderFacts
from agent_work_orders.workflow_engine.scopes import ORDER

NESTED = """
name: nested
inputs: {xs: {type: list, required: true}}
tasks:
  outer:
    foreach: "{{ inputs.xs }}"
    tasks:
      inner: {foreach: "{{ inputs.xs }}", uses: tests.run, with: {}}
"""
BAD: list[tuple[dict[str, Any], str]] = [
    ({"repository_url": ""}, "repository_url_invalid"),
    ({"repository_url": "/no/such/folder"}, "repository_not_found"),
    ({"repository_url": "/etc"}, "not_a_repository"),
    ({"repository_url": "ext::sh -c id"}, "repository_url_scheme"),
    ({"repository_url": "file:///etc/passwd"}, "repository_url_scheme"),
    ({"repository_url": "-oProxyCommand=id"}, "repository_url_invalid"),
    ({"repository_url": "http://example.com/x"}, "repository_url_scheme"),
    ({"repository_url": "https://u:p@example.com/x"}, "repository_url_credentials"),
    ({"workflow_type": "no-such"}, "workflow_unknown"),
    ({"workflow_source": "name: x"}, "workflow_invalid"),
    ({"workflow_source": "{{{{"}, "workflow_invalid"),
    ({"sandbox_type": "cardboard"}, "sandbox_type_invalid"),
    ({"sandbox_type": "e2b"}, "sandbox_type_invalid"),
    ({"github_issue_number": "4x"}, "issue_number_invalid"),
    ({"github_issue_number": "-1"}, "issue_number_invalid"),
    ({"github_issue_number": "$(id)"}, "issue_number_invalid"),
    ({"base_branch": "-x"}, "branch_name_invalid"),
    ({"base_branch": "a..b"}, "branch_name_invalid"),
    ({"base_branch": "gone"}, "base_branch_missing"),
    ({"priority": "asap"}, "priority_invalid"),
    ({"initial_prompt": "x" * 65_537}, "text_too_long"),
    ({"initial_prompt": "a\0b"}, "text_invalid"),
    ({"initial_prompt": "\ud800"}, "text_invalid"),
    ({"title": "x" * 201}, "text_too_long"),
    ({"title": "\udfff"}, "text_invalid"),
    ({"inputs": {"unknown": 1}}, "input_invalid"),
    ({"inputs": {"command": ["\ud800"]}, "workflow_type": "test-pipeline"}, "text_invalid"),
    ({"inputs": {"command": [["a\0b"]]}, "workflow_type": "test-pipeline"}, "text_invalid"),
    ({"agent": {"name": "command", "argv": ["\ud800"]}}, "text_invalid"),
    ({"agent": {"name": "scripted", "script": "default: []\n# \ud800"}}, "text_invalid"),
    ({"workflow_source": "name: \ud800"}, "text_invalid"),
    ({"idempotency_key": "\ud800"}, "text_invalid"),
    ({"agent": {"name": "nobody"}}, "agent_unknown"),
    ({"agent": {"name": "scripted"}}, "agent_option_invalid"),
    ({"agent": {"name": "scripted", "script": "x: ["}}, "script_invalid"),
    ({"agent": {"name": "command", "argv": []}}, "agent_option_invalid"),
    ({"agent_timeout_s": 0}, "timeout_invalid"),
    ({"agent_timeout_s": float("nan")}, "timeout_invalid"),
    ({"agent_timeout_s": 1e9}, "timeout_invalid"),
    ({"workflow_source": NESTED, "inputs": {"xs": [1] * 1_000}}, "too_many_tasks"),
    ({"idempotency_key": ""}, "idempotency_key_invalid"),
    ({"idempotency_key": "k" * 1000}, "idempotency_key_invalid"),
]


async def _without_workspaces(site: Site) -> None:
    """The sandbox is removed after the order's end is on record."""
    for _ in range(1_000):
        if not list((site.home / "workspaces").iterdir()):
            break
        await asyncio.sleep(0.01)
    assert list((site.home / "workspaces").iterdir()) == []


@pytest.mark.fault("F2")
async def test_what_is_refused_leaves_no_trace(site: Site) -> None:
    before = site.written()
    wrong = []
    for given, code in BAD:
        with pytest.raises(Refused) as refused:
            await site.submit(**given)
        if refused.value.code != code or not refused.value.hint:
            wrong.append((given, refused.value.code, refused.value.hint))
    assert wrong == [], "\n".join(map(repr, wrong))
    assert site.written() == before
    await _without_workspaces(site)


@pytest.mark.parametrize(
    ("caller", "kind"),
    [
        (Caller(name="v", role="viewer"), Forbidden),
        (Caller(name="o", role="operator", repositories=("other-1",)), NotFound),
    ],
)
async def test_who_may_not_leaves_no_trace(site: Site, caller: Caller, kind: type[Refused]) -> None:
    before = site.written()
    with pytest.raises(kind):
        await site.submit(caller)
    assert site.written() == before


async def test_an_order_starts_and_delivers(site: Site) -> None:
    order_id = await site.submit(github_issue_number="42", priority="URGENT")
    record = await site.until(order_id, "completed")
    assert record.git_branch_name == f"feat-issue-42-{order_id}"
    assert (record.priority, record.title, record.initial_prompt) == ("urgent", "Do it", "Do it")
    assert record.created_by == "local"
    assert record.execution_completed_at_ms is not None
    stored = await _stored(site, order_id, "completed")
    assert stored == msgspec.structs.replace(record, run_seq=stored.run_seq)
    await _without_workspaces(site)


async def test_the_same_key_is_the_same_order(site: Site) -> None:
    first, again = await asyncio.gather(
        site.submit(idempotency_key="k"), site.submit(idempotency_key="k")
    )
    assert first == again
    await site.until(first, "completed")
    await site.restart()
    assert await site.submit(idempotency_key="k") == first
    with pytest.raises(Conflict) as reused:
        await site.submit(idempotency_key="k", initial_prompt="Something else")
    assert reused.value.code == "idempotency_key_reused"
    other = Caller(name="other", role="operator")
    assert await site.submit(other, idempotency_key="k") != first
    page = await inspect.page(site.context, LOCAL_OPERATOR, OrderFilter())
    assert page.total_count == 2


async def test_orders_of_two_repositories_run_side_by_side(site: Site) -> None:
    second = make_source(site.folder / "second")
    ids = await asyncio.gather(
        *(site.submit() for _ in range(2)),
        *(site.submit(repository_url=str(second)) for _ in range(2)),
    )
    for order_id in ids:
        record = await site.until(order_id, "completed")
        source = second if "second" in record.repository_url else site.source
        assert git(source, "show", f"{record.git_branch_name}:made.txt") == "made"
    assert len(git(site.source, "branch", "--list", "feat-*").split()) == 2


async def test_a_prefix_finds_and_tells_nothing_of_others(site: Site) -> None:
    order_id = await site.submit()
    row = await find.record_of(site.context, order_id[:10], LOCAL_OPERATOR)
    assert row.agent_work_order_id == order_id
    assert await find.record_of(site.context, order_id[3:8], LOCAL_OPERATOR) == row
    twin = order_id[:-1] + ("a" if order_id[-1] != "a" else "b")
    second = make_source(site.folder / "second")
    await site.context.store.records.upsert(
        msgspec.structs.replace(row, agent_work_order_id=twin, repository="second-1")
    )
    with pytest.raises(Conflict) as ambiguous:
        await find.record_of(site.context, order_id[:10], LOCAL_OPERATOR)
    assert ambiguous.value.code == "order_ambiguous" and twin in ambiguous.value.message
    mine = Caller(name="m", role="viewer", repositories=(row.repository,))
    assert (await find.record_of(site.context, order_id[:10], mine)).agent_work_order_id == order_id
    for wanted in (twin, "wo-", "", "%", "wo-" + "a" * 16, "../etc", "x" * 1000, "WO-AAAA"):
        with pytest.raises(NotFound) as unknown:
            await find.record_of(site.context, wanted, mine)
        assert unknown.value.code == "order_unknown"
    assert second.is_dir()


async def _stored(site: Site, order_id: str, status: str) -> Any:
    async with asyncio.timeout(10):
        while True:
            row = await site.context.store.records.get(order_id)
            if row is not None and row.status == status:
                return row
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("made", "code"),
    [(["--object-format=sha256"], "object_format_unsupported"), ([], "repository_empty")],
)
async def test_repositories_that_no_order_can_start_in(
    site: Site, made: list[str], code: str
) -> None:
    folder = site.folder / "other"
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main", *made)
    if made:
        git(folder, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    before = site.counts()
    with pytest.raises(Refused) as refused:
        await site.submit(repository_url=str(folder))
    assert (refused.value.code, refused.value.status) == (code, 422)
    assert refused.value.field == "repository_url" and refused.value.hint
    assert site.counts() == before
    assert not list((site.home / "mirrors").glob("*.git"))


def test_lint_knows_what_every_order_has() -> None:
    fields = {one.name for one in msgspec.structs.fields(OrderFacts)}
    assert set(ORDER["properties"]) == fields


@pytest.mark.parametrize("prompt", ["", " ", "\n\t "])
async def test_a_blank_request_is_none(site: Site, prompt: str) -> None:
    with pytest.raises(Refused) as refused:
        await site.submit(initial_prompt=prompt)
    assert refused.value.code == "prompt_missing"
