"""What use cases work with. Bootstrap makes it; it holds no logic.

`Context` is what there is: enough to look at everything, whether or not somebody is at work in the
data directory. `LiveContext` is that with an engine at work: what steers orders asks for this one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from agent_work_orders.agent_executor.registry import Registry
from agent_work_orders.clock import Clock
from agent_work_orders.engines.engine import Engine, Runs
from agent_work_orders.engines.perform import Log
from agent_work_orders.github_integration.account import Need, Remark
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.github_integration.hook import Hook
from agent_work_orders.github_integration.local_forge import LocalForge
from agent_work_orders.github_integration.quota import QuotaReport
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.sandbox import Sandboxes
from agent_work_orders.state_manager.store import Store
from agent_work_orders.tools.workspaces import Workspaces
from agent_work_orders.work_orders.backlog import Backlog
from agent_work_orders.work_orders.cache import Cache
from agent_work_orders.work_orders.transcripts import Transcripts
from agent_work_orders.workflow_engine.catalogue import Catalogue


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What the operator decided for all orders."""

    default_sandbox: str = "git_worktree"
    default_agent: str = "claude_code"
    git_origins: frozenset[str] = frozenset()
    """Plain-http git servers that orders may name."""
    four_eyes: bool = False
    """Who asked for an order does not decide about it."""
    workflow_folders: tuple[Path, ...] = ()
    """Beside that of the data directory, which goes first."""
    public_url: str = ""
    """Of the dashboard, for links from elsewhere; "" when nobody told."""

    def order_url(self, order_id: str) -> str:
        """Where people look at an order; "" when that is not known."""
        return f"{self.public_url}/orders/{order_id}" if self.public_url else ""


class GitHubLink(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of GitHub beside its repositories, where it is configured."""

    quota_report: Callable[[], QuotaReport]
    hook: Hook | None = None
    """Of the App, where deliveries that failed can be asked for again."""
    check: Callable[[Sequence[Need]], Awaitable[Sequence[Remark]]] | None = None
    """Whether GitHub takes our credentials, and what they lack, of these needs too."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    store: Store
    runs: Runs
    mirrors: Mirrors
    sandboxes: Sandboxes
    agents: Registry
    reviews: LocalForge
    """Of orders on plain repositories."""
    forges: Forges
    transcripts: Transcripts
    catalogue: Catalogue
    cache: Cache
    backlog: Backlog
    clock: Clock
    home: Path
    log: Log
    redact: Callable[[str], str]
    policy: Policy


class LiveContext(Context, frozen=True, kw_only=True):
    runs: Engine
    workspaces: Workspaces
    github: GitHubLink | None = None
