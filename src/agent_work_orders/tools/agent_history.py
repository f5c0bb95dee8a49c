"""The record of a task's earlier turns, put where the agent of the next turn can read it.

Earlier turns are attempts that failed or were cut off, and prompts before this one. The agent's own
session may be gone, with its sandbox or by a crash; our transcript is not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from agent_work_orders.agent_executor import resume
from agent_work_orders.agent_executor.agent import AgentRequest, Entry
from agent_work_orders.errors import Failed, Refused
from agent_work_orders.sandbox_manager.sandbox import Sandbox

Recall = Callable[[str, str], list[Entry]]
"""(order, task path): the newest entries of the task's transcript, oldest first; none is fine."""


class History:
    def __init__(self, recall: Recall, redact: Callable[[str], str]) -> None:
        self._recall = recall
        self._redact = redact

    async def give(
        self, order_id: str, task: str, sandbox: Sandbox, request: AgentRequest, *, files_kept: bool
    ) -> AgentRequest:
        """The request with a note of where the record is, if there is one."""
        entries = await asyncio.to_thread(self._recall, order_id, task)
        record = resume.record(entries)
        if not record:
            return request
        # What was written long ago is cleaned with the secrets that are known now.
        content = self._redact(record).encode("utf-8", "replace")
        try:
            path = await sandbox.put_private(resume.FILE_NAME, content)
        except (Failed, Refused):
            # An agent may have spoiled its home. It goes on without a memory.
            return request
        return msgspec.structs.replace(
            request, history=resume.note(path, files_kept=files_kept), history_file=path
        )
