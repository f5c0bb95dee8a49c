"""Which tools wait for a person although the workflow does not say so."""

from __future__ import annotations

import msgspec

from agent_work_orders.workflow_engine.catalogue import ToolInfo
from agent_work_orders.workflow_engine.plan import Approval, Risk


class RiskPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's rule. Compiled into the plan, so that the plan shown is the plan run."""

    ask: tuple[Risk, ...] = ("high",)
    exempt: tuple[str, ...] = ()
    """Tools that need no approval in spite of their risk."""
    always: tuple[str, ...] = ()
    """Tools that need one whatever their risk; stronger than `exempt`."""
    expires_s: float = 86_400.0

    def approval(self, tool: ToolInfo) -> Approval | None:
        risky = tool.risk in self.ask and tool.name not in self.exempt
        if not risky and tool.name not in self.always:
            return None
        message = f"{tool.name} is a {tool.risk}-risk step. Go on?"
        return Approval(message=message, expires_s=self.expires_s, because="risk")
