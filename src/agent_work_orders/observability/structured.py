"""The door to structlog, which loads rich wherever that is installed: 0.3 s of every start, for
tracebacks that are never drawn with it."""

from __future__ import annotations

import sys
from types import ModuleType


def _without_rich() -> ModuleType:
    absent = "rich" not in sys.modules
    rich = sys.modules.get("rich")
    # None stands for a module that cannot be imported.
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog
    finally:
        if absent:
            del sys.modules["rich"]
        elif rich is not None:
            sys.modules["rich"] = rich
    return structlog


structlog = _without_rich()
