"""The parts that use cases work with. Bootstrap makes one; it holds no logic."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from agent_work_orders.agent_executor.registry import Registry
from agent_work_orders.clock import Clock
from agent_work_orders.engines.engine import Engine
from agent_work_orders.engines.perform import Log
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.github_integration.hook import Hook
from agent_work_orders.github_integration.local_forge import LocalForge
from agent_work_orders.github_integration.quota import QuotaReport
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.sandbox import Sandboxes
from agent_work_orders.state_manager.approvals import Approvals
from agent_work_orders.state_manager.artifacts import Artifacts
from agent_work_orders.state_manager.audit import Audit
from agent_work_orders.state_manager.credentials import Credentials
from agent_work_orders.state_manager.deliveries import Deliveries
from agent_work_orders.state_manager.feed import Feed
from agent_work_orders.state_manager.idempotency import IdempotencyKeys
from agent_work_orders.state_manager.keys import Keys
from agent_work_orders.state_manager.ledger import Ledger
from agent_work_orders.state_manager.logbook import Logbook
from agent_work_orders.state_manager.records import Records
from agent_work_orders.state_manager.subjects import Subjects
from agent_work_orders.state_manager.versions import Versions
from agent_work_orders.work_orders.backlog import Backlog
from agent_work_orders.work_orders.cache import Cache
from agent_work_orders.work_orders.transcripts import Transcripts
from agent_work_orders.workflow_engine.catalogue import Catalogue


class Rooms(msgspec.Struct, frozen=True, kw_only=True):
    engine: Engine
    records: Records
    approvals: Approvals
    logbook: Logbook
    feed: Feed
    versions: Versions
    ledger: Ledger
    artifacts: Artifacts
    audit: Audit
    keys: Keys
    credentials: Credentials
    idempotency: IdempotencyKeys
    deliveries: Deliveries
    subjects: Subjects
    mirrors: Mirrors
    sandboxes: Sandboxes
    agents: Registry
    forge: LocalForge
    forges: Forges
    transcripts: Transcripts
    cache: Cache
    backlog: Backlog
    catalogue: Catalogue
    clock: Clock
    home: Path
    log: Log
    redact: Callable[[str], str]
    queue_until_ms: Callable[[str], int | None]
    """Until when a rate limit keeps an order from starting."""
    default_sandbox: str = "git_worktree"
    default_agent: str = "claude_code"
    git_origins: frozenset[str] = frozenset()
    four_eyes: bool = False
    """Who asked for an order does not decide about it."""
    public_url: str = ""
    """Of the dashboard, for links from elsewhere; "" when nobody told."""
    quota_report: Callable[[], QuotaReport] | None = None
    """With GitHub, where it is configured."""
    hook: Hook | None = None
    """Of the App, where deliveries that failed can be asked for again."""

    def order_url(self, order_id: str) -> str:
        """Where people look at an order; "" when that is not known."""
        return f"{self.public_url}/orders/{order_id}" if self.public_url else ""
