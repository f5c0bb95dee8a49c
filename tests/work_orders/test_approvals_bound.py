"""An approval is about the commit that people were shown, and void when the branch moved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from site_bench import Site, git

from agent_work_orders.errors import Conflict, NotFound
from agent_work_orders.repositories.refname import order_ref
from agent_work_orders.security.roles import LOCAL_OPERATOR, Caller
from agent_work_orders.state_manager.approvals import ApprovalRecord
from agent_work_orders.work_orders import approvals, inspect
from agent_work_orders.work_orders.questions import Questions

WORKFLOW = """
name: parallel
tasks:
  first:
    uses: agent.command
    with: {command: plan}
  publish:
    needs: [first]
    approval: {message: "Open the pull request?", expires: 1h}
    uses: forge.open_pull_request
  second:
    needs: [first]
    uses: agent.command
    with: {command: build}
"""
APPROVER = Caller(name="ann", role="approver")


def script(site: Site) -> str:
    """The second agent is at work until the test lets it end."""
    wait = f"until [ -e {site.folder}/go ]; do sleep 0.02; done"
    return f"""
commands:
  plan: [{{write: {{path: shown.txt, content: shown}}}}, {{text: done}}]
  build:
    - run: {{argv: [sh, -c, "{wait}"]}}
    - write: {{path: unseen.txt, content: unseen}}
    - text: done
"""


def go(site: Site) -> None:
    (site.folder / "go").touch()


async def begun(site: Site) -> tuple[str, ApprovalRecord]:
    """An order that asks, while another task of it is at work."""
    order_id = await site.submit(workflow_source=WORKFLOW, script=script(site))
    [one] = await questions(site, order_id, lambda found: len(found) == 1)
    await site.until_task(order_id, "second", "running")
    return order_id, one


async def questions(
    site: Site, order_id: str, enough: Callable[[list[ApprovalRecord]], bool]
) -> list[ApprovalRecord]:
    async with asyncio.timeout(60):
        while not enough(found := await approvals.of_order(site.context, order_id, LOCAL_OPERATOR)):
            await asyncio.sleep(0.01)
        return sorted(found, key=lambda one: one.asked_at_ms)


async def asked_twice(site: Site, order_id: str) -> list[ApprovalRecord]:
    return await questions(site, order_id, lambda found: len(found) == 2)


def head_of(one: ApprovalRecord) -> str:
    return str(one.subject["shown"]["head_sha"])


async def patch(site: Site, order_id: str, one: ApprovalRecord) -> bytes:
    return (await inspect.diff(site.context, order_id, LOCAL_OPERATOR, head=head_of(one))).text


async def published(site: Site, order_id: str) -> str | None:
    row = await site.show(order_id)
    found = inspect.review(site.context, row)
    return None if found is None else found.proposal.head_sha


@pytest.mark.fault("N10")
@pytest.mark.fault("J8")
async def test_a_branch_that_moved_voids_the_question_and_has_it_asked_once_more(
    site: Site,
) -> None:
    order_id, first = await begun(site)
    go(site)
    old, new = await asked_twice(site, order_id)
    assert (old.approval_id, old.state) == (first.approval_id, "void")
    assert new.state == "asked" and new.subject_hash != old.subject_hash
    assert b"unseen" not in await patch(site, order_id, old)
    assert b"unseen" in await patch(site, order_id, new)
    for subject_hash in (old.subject_hash, None):
        with pytest.raises(Conflict) as refused:
            await approvals.decide(
                site.context, old.approval_id, APPROVER, approved=True, subject_hash=subject_hash
            )
        assert refused.value.code == "approval_subject_changed"
    assert await published(site, order_id) is None
    assert len(await asked_twice(site, order_id)) == 2
    await approvals.decide(
        site.context, new.approval_id, APPROVER, approved=True, subject_hash=new.subject_hash
    )
    await site.until(order_id, "completed")
    assert await published(site, order_id) == head_of(new)
    [said] = [
        e
        for e in await site.context.store.audit.page(order_id=order_id)
        if e.what == "approval.approve"
    ]
    assert said.target == new.approval_id


@pytest.mark.fault("N10")
async def test_what_was_approved_is_not_published_with_what_came_after(site: Site) -> None:
    """The answer was in time; the branch moved between it and the deed."""
    order_id, one = await begun(site)
    await approvals.decide(
        site.context, one.approval_id, APPROVER, approved=True, subject_hash=one.subject_hash
    )
    await site.until_task(order_id, "publish", "running")
    go(site)
    old, new = await asked_twice(site, order_id)
    assert (old.state, new.state) == ("approved", "asked")
    assert await published(site, order_id) is None
    assert (await site.task(order_id, "publish"))["state"] == "awaiting_approval"
    await approvals.decide(site.context, new.approval_id, APPROVER, approved=True)
    await site.until(order_id, "completed")
    assert await published(site, order_id) == head_of(new) != head_of(old)


@pytest.mark.fault("N10")
async def test_a_decision_looks_at_the_branch_itself(site: Site) -> None:
    """Also when nothing told that it moved."""
    order_id, one = await begun(site)
    row = await site.show(order_id)
    mirror = site.context.mirrors.at(row.repository)
    head = order_ref(order_id, "head")
    parent = git(site.source, "rev-parse", "HEAD")
    await mirror.set_ref(head, parent, old=head_of(one))
    with pytest.raises(Conflict) as refused:
        await approvals.decide(
            site.context, one.approval_id, APPROVER, approved=True, subject_hash=one.subject_hash
        )
    assert refused.value.code == "approval_subject_changed"
    old, new = await asked_twice(site, order_id)
    assert (old.state, new.state, head_of(new)) == ("void", "asked", parent)


async def test_the_diff_is_of_commits_of_the_order_only(site: Site) -> None:
    order_id, _ = await begun(site)
    for sha in ("0" * 40, "f" * 40):
        with pytest.raises(NotFound) as refused:
            await inspect.diff(site.context, order_id, LOCAL_OPERATOR, head=sha)
        assert refused.value.code == "commit_unknown"


async def test_a_question_survives_a_restart_as_it_was(site: Site) -> None:
    order_id, one = await begun(site)
    await site.restart()
    [again] = await questions(site, order_id, lambda found: bool(found))
    assert again == one


async def test_what_an_earlier_version_asked_is_asked_again_about_the_commit(site: Site) -> None:
    """There, questions were shown without a commit, and their hash covered none."""
    observers = site.house.engine._observers
    observers[:] = [seen for seen in observers if not isinstance(seen.__self__, Questions)]  # type: ignore[attr-defined]
    order_id = await site.submit(workflow_source=WORKFLOW, script=script(site))
    task = await site.until_task(order_id, "publish", "awaiting_approval")
    before = ApprovalRecord(
        approval_id=f"{order_id}:publish:1",
        order_id=order_id,
        run_id=order_id,
        path="publish",
        message=task["approval"]["message"],
        subject=task["approval"]["subject"],
        subject_hash=task["approval"]["subject_hash"],
        asked_at_ms=1,
    )
    await site.context.store.approvals.ask(before)
    await site.restart()
    old, new = await asked_twice(site, order_id)
    assert (old.approval_id, old.state) == (before.approval_id, "void")
    assert new.state == "asked" and len(head_of(new)) == 40
    go(site)
