"""What the compiler must know of a tool. The tools themselves live in `tools/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from agent_work_orders.workflow_engine.plan import Risk


class ToolInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a workflow author sees it.

    `inputs` and `outputs` are JSON Schemas of objects; every property has a type, `required`
    lists what must be given, and unknown inputs are refused. `undo` names the tool that
    compensates it (called with the task's outputs as its input) unless the task says otherwise.
    `shaped` names outputs whose schema the task itself gives, and the inputs that it stands in.
    """

    name: str
    summary: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    risk: Risk = "low"
    undo: str | None = None
    takes_prompts: bool = False
    shaped: Mapping[str, str] = {}
    timeout_s: float = 300.0


Catalogue = Mapping[str, ToolInfo]
