"""Everything that a server remembers, as one contract: what an implementation has to keep.

Four groups. The journal is the truth and everything else serves it. The world is what was written
outside or came from there, so that nothing is done twice. The read side is what people look at; it
can be made again from the journal. Access says who may do what, and who did.

Whatever may wait for a disk or a network is `async`. What is not is answered from memory, or is
handed in and written later; it never waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agent_work_orders.state_manager.approvals import Approvals
from agent_work_orders.state_manager.artifacts import Artifacts
from agent_work_orders.state_manager.audit import Audit
from agent_work_orders.state_manager.branches import Branches
from agent_work_orders.state_manager.credentials import Credentials
from agent_work_orders.state_manager.damaged_row import DamagedRow
from agent_work_orders.state_manager.deliveries import Deliveries
from agent_work_orders.state_manager.feed import Feed
from agent_work_orders.state_manager.idempotency import IdempotencyKeys
from agent_work_orders.state_manager.journal import Journal
from agent_work_orders.state_manager.keys import Keys
from agent_work_orders.state_manager.ledger import Ledger
from agent_work_orders.state_manager.logbook import Logbook
from agent_work_orders.state_manager.quota import Quota
from agent_work_orders.state_manager.records import Records
from agent_work_orders.state_manager.sessions import Sessions
from agent_work_orders.state_manager.subjects import Subjects
from agent_work_orders.state_manager.versions import Versions


class Store(Protocol):
    """Made by an implementation's own `open`; nothing above bootstrap knows which one it is."""

    @property
    def journal(self) -> Journal: ...

    # The world.
    @property
    def ledger(self) -> Ledger: ...
    @property
    def branches(self) -> Branches: ...
    @property
    def artifacts(self) -> Artifacts: ...
    @property
    def deliveries(self) -> Deliveries: ...
    @property
    def subjects(self) -> Subjects: ...
    @property
    def idempotency(self) -> IdempotencyKeys: ...
    @property
    def quota(self) -> Quota: ...

    # The read side.
    @property
    def records(self) -> Records: ...
    @property
    def approvals(self) -> Approvals: ...
    @property
    def logbook(self) -> Logbook: ...
    @property
    def feed(self) -> Feed: ...
    @property
    def versions(self) -> Versions: ...

    # Access.
    @property
    def keys(self) -> Keys: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def credentials(self) -> Credentials: ...
    @property
    def audit(self) -> Audit: ...

    @property
    def damaged(self) -> Sequence[DamagedRow]:
        """What was found when it was opened; each stops only those who need it."""
        ...

    def trouble(self) -> tuple[str, str] | None:
        """(code, cause) while nothing can be written."""
        ...
