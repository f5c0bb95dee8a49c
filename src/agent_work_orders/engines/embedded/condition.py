"""Whether the engine takes anything, and in which words it says that it does not."""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_work_orders.errors import Unavailable


class Condition(msgspec.Struct, kw_only=True):
    """Of one engine, who alone changes it."""

    state: Literal["new", "running", "draining", "stopped", "halted"] = "new"
    reason: str = ""
    """For the operator: the words of what halted it, which may name places of this machine."""
    halted_by: str = ""
    """For callers: the code of the same."""

    def check(self, *, new: bool = False) -> None:
        """Raises Unavailable unless an event is taken now; a `new` order only while running."""
        if self.state == "running" or (self.state == "draining" and not new):
            return
        if self.state in ("draining", "stopped"):
            raise Unavailable(
                "server_draining",
                "The server is stopping and takes nothing new",
                hint="Ask again in a moment: whoever is started next takes it.",
            )
        raise Unavailable(
            "engine_unavailable",
            f"the engine is {self.state}" + (f" ({self.halted_by})" if self.halted_by else ""),
            hint="Free disk space if it is full; otherwise restart the server.",
        )

    def halt(self, error: BaseException) -> None:
        self.state = "halted"
        self.reason, self.halted_by = str(error), getattr(error, "code", "")
