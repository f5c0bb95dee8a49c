"""The hub that is GitHub: its parts put together. What is agreed on stands in forge.py."""

from __future__ import annotations

from agent_work_orders.github_integration.quota import Priority
from agent_work_orders.github_integration.resources.administration import Administration
from agent_work_orders.github_integration.resources.checks import Checks
from agent_work_orders.github_integration.resources.conversation import Conversation
from agent_work_orders.github_integration.resources.reviews import Reviews


class GithubForge(Reviews, Conversation, Checks, Administration):
    name = "github"

    def asking(self, priority: Priority) -> GithubForge:
        """The same for somebody who waits, or for nobody."""
        return GithubForge(
            self._transport,
            hosts=self._hosts,
            public_url=self._public_url,
            priority=priority,
            sleep=self._sleep,
        )
