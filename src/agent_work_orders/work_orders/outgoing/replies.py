"""The contract of how we answer on a hub: short comments and reactions, each once.

`key` says what is said (which command it answers), so that saying it again is harmless. It
takes over what it is given: no failure of the network is the caller's, who goes on at once.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from agent_work_orders.github_integration.forge import Reaction, Repository


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation: an issue or a pull request of a repository."""

    repository: Repository
    repository_id: int
    number: int


class Replies(Protocol):
    async def say(self, conversation: Conversation, key: str, text: str) -> None:
        """A comment. `text` is ours; what it quotes of others is already harmless."""
        ...

    async def react(
        self,
        conversation: Conversation,
        comment_id: int | None,
        reaction: Reaction,
        *,
        on_a_line: bool = False,
    ) -> None:
        """On a comment of the conversation (`on_a_line`: of a review's), or on its beginning."""
        ...


class Silent:
    """Where nobody listens."""

    async def say(self, conversation: Conversation, key: str, text: str) -> None:
        return

    async def react(
        self,
        conversation: Conversation,
        comment_id: int | None,
        reaction: Reaction,
        *,
        on_a_line: bool = False,
    ) -> None:
        return
