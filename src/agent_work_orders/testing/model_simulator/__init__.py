"""A stand-in for the model behind an agent: the Anthropic Messages API on a loopback port.

It answers from a script, so that the real Claude Code CLI runs offline, without a key, and meets
every fault on demand. Nothing it says comes from a model.
"""

from agent_work_orders.testing.model_simulator.script import (
    Fault,
    Outage,
    Reply,
    Script,
    Text,
    ToolUse,
)
from agent_work_orders.testing.model_simulator.server import ModelSimulator, refused_address

__all__ = [
    "Fault",
    "ModelSimulator",
    "Outage",
    "Reply",
    "Script",
    "Text",
    "ToolUse",
    "refused_address",
]
