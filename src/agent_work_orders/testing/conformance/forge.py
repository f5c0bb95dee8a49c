"""What every forge must do. Subclass and give a pytest fixture `desk`."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

import msgspec

from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.github_integration.forge import Forge, Proposal, Repository

KEY = "wo-aaaaaaaaaaaaaaaa:pull_request"
OTHER = "wo-bbbbbbbbbbbbbbbb:pull_request"


class ForgeDesk(Protocol):
    """A forge, a repository on it, and somebody who pushes."""

    @property
    def forge(self) -> Forge: ...

    @property
    def repository(self) -> Repository: ...

    def push(self, branch: str, *, changes: bool = True) -> tuple[str, str]:
        """A branch from the default one, with a commit or without; (head, base)."""
        ...


def proposal(
    desk: ForgeDesk, branch: str = "feat-a", *, changes: bool = True, **more: Any
) -> Proposal:
    head, base = desk.push(branch, changes=changes)
    whole = Proposal(
        order_id="wo-aaaaaaaaaaaaaaaa",
        repository=desk.repository,
        title="feat: a",
        body="The body",
        head_branch=branch,
        base_branch="main",
        head_sha=head,
        base_sha=base,
    )
    return msgspec.structs.replace(whole, **more)


async def refused(call: Awaitable[Any]) -> str:
    """The code with which it is refused."""
    try:
        await call
    except AgentWorkOrdersError as error:
        assert error.hint
        return error.code
    raise AssertionError("it was not refused")


class ForgeConformance:
    async def test_what_is_opened_is_found(self, desk: ForgeDesk) -> None:
        offer = proposal(desk)
        assert await desk.forge.find_pull_request(desk.repository, KEY, "feat-a") is None
        opened = await desk.forge.open_pull_request(offer, KEY)
        assert (opened.state, opened.title) == ("open", "feat: a")
        assert (opened.head_branch, opened.base_branch) == ("feat-a", "main")
        assert opened.head_sha == offer.head_sha and opened.url
        assert "The body" in opened.body
        assert await desk.forge.find_pull_request(desk.repository, KEY, "feat-a") == opened

    async def test_it_is_found_by_key_and_branch_only(self, desk: ForgeDesk) -> None:
        await desk.forge.open_pull_request(proposal(desk), KEY)
        assert await desk.forge.find_pull_request(desk.repository, OTHER, "feat-a") is None
        assert await desk.forge.find_pull_request(desk.repository, KEY, "feat-b") is None

    async def test_two_branches_are_two(self, desk: ForgeDesk) -> None:
        one = await desk.forge.open_pull_request(proposal(desk), KEY)
        other = await desk.forge.open_pull_request(proposal(desk, "feat-b"), OTHER)
        assert one.number != other.number

    async def test_an_open_one_is_brought_up_to_date_where_its_texts_are_ours(
        self, desk: ForgeDesk
    ) -> None:
        forge, draft = desk.forge, proposal(desk, draft=True)
        opened = await forge.open_pull_request(draft, KEY)
        assert opened.state == "draft"
        newer = proposal(desk, title="feat: newer", body="Newer")
        again = await forge.update_pull_request(
            opened.number, newer, KEY, ours=[forge.texts(draft, KEY)]
        )
        assert (again.number, again.state) == (opened.number, "open")
        assert again.title == "feat: newer" and "Newer" in again.body
        assert again.head_sha == newer.head_sha != draft.head_sha
        assert await forge.pull_request(desk.repository, opened.number) == again

    async def test_an_open_one_is_not_opened_again_whosever_it_is(self, desk: ForgeDesk) -> None:
        offer = proposal(desk)
        theirs = await desk.forge.open_pull_request(offer, OTHER)
        for key in (KEY, OTHER):
            assert await refused(desk.forge.open_pull_request(offer, key)) == "pull_request_exists"
        found = await desk.forge.find_pull_request(desk.repository, OTHER, "feat-a")
        assert found == theirs

    async def test_those_that_are_set_aside_are_not_found(self, desk: ForgeDesk) -> None:
        opened = await desk.forge.open_pull_request(proposal(desk), KEY)
        besides = frozenset([opened.number])
        for settled in (True, False):
            look = desk.forge.find_pull_request
            args = (desk.repository, KEY, "feat-a")
            assert await look(*args, besides=besides, settled=settled) is None
            assert await look(*args, settled=settled) == opened

    async def test_nothing_to_offer_is_said(self, desk: ForgeDesk) -> None:
        offer = proposal(desk, changes=False)
        assert await refused(desk.forge.open_pull_request(offer, KEY)) == "no_changes"

    async def test_a_draft_becomes_ready_and_never_a_draft_again(self, desk: ForgeDesk) -> None:
        offer = proposal(desk, draft=True)
        number = (await desk.forge.open_pull_request(offer, KEY)).number
        still = await desk.forge.update_pull_request(number, offer, KEY, ours=[])
        assert still.state == "draft"
        ready = msgspec.structs.replace(offer, draft=False)
        assert (await desk.forge.update_pull_request(number, ready, KEY, ours=[])).state == "open"
        assert (await desk.forge.update_pull_request(number, offer, KEY, ours=[])).state == "open"

    async def test_a_closed_one_stays_closed_and_a_second_can_follow(self, desk: ForgeDesk) -> None:
        offer = proposal(desk, draft=True)
        first = await desk.forge.open_pull_request(offer, KEY)
        for _ in range(2):
            await desk.forge.close_pull_request(desk.repository, first.number, "because")
        ready = msgspec.structs.replace(offer, draft=False)
        still = await desk.forge.update_pull_request(first.number, ready, KEY, ours=[])
        assert still.state == "closed"
        found = await desk.forge.find_pull_request(desk.repository, KEY, "feat-a")
        assert found is not None and (found.number, found.state) == (first.number, "closed")
        second = await desk.forge.open_pull_request(ready, KEY)
        assert second.number != first.number
        assert await desk.forge.find_pull_request(desk.repository, KEY, "feat-a") == second

    async def test_what_is_not_there_is_said(self, desk: ForgeDesk) -> None:
        unknown = "review_unknown"
        closing = desk.forge.close_pull_request(desk.repository, 77, "x")
        assert await refused(closing) == unknown
        offer = proposal(desk)
        assert await refused(desk.forge.update_pull_request(77, offer, KEY, ours=[])) == unknown
