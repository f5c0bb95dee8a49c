"""Everything that can be set: `sections.py` has the values, `fields.py` the reference, `rules.py`
what fits, `load.py` the reading."""

from agent_work_orders.settings.fields import FIELDS, KEPT
from agent_work_orders.settings.load import (
    KEY_FILE,
    load,
    refuse_unknown,
    to_keep,
    with_kept,
)
from agent_work_orders.settings.rules import AGENTS, MAX_WEBHOOK_SECRETS
from agent_work_orders.settings.sections import LogLevel, Settings, changed, value_of

__all__ = [
    "AGENTS",
    "FIELDS",
    "KEPT",
    "KEY_FILE",
    "MAX_WEBHOOK_SECRETS",
    "LogLevel",
    "Settings",
    "changed",
    "load",
    "refuse_unknown",
    "to_keep",
    "value_of",
    "with_kept",
]
