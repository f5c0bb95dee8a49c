"""The command is light, complete and documented by itself."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

HEAVY = ("asyncio", "msgspec", "pydantic", "fastapi", "starlette", "httpx", "structlog", "sqlite3")
VERBS = (
    "up", "demo", "run", "list", "show", "logs", "diff", "prompt", "cancel", "pause", "resume",
    "retry", "rollback", "approve", "reject", "override", "workflow", "tools", "doctor", "audit",
    "backup", "restore", "key", "version", "open",
)  # fmt: skip


def test_help_imports_nothing_of_weight() -> None:
    code = (
        f"import agent_work_orders.cli.main, sys; print([n for n in {HEAVY} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_verb_is_there(awo: Any) -> None:
    done = awo("--help")
    assert done.code == 0
    words = done.out.split()
    assert [verb for verb in VERBS if verb not in words] == []
    assert "--install-completion" in words


def test_the_flags_that_others_script_against(awo: Any) -> None:
    shown = awo.inside("run", "--help").out
    flags = (
        "--repo --workflow --sandbox --agent --agent-command --agent-script --issue --base --input "
        "--priority --timeout --model --detach --json --home --url"
    ).split()
    assert [flag for flag in flags if flag not in shown] == []


def test_version_in_json_is_one_document(awo: Any) -> None:
    assert set(awo.inside("version", "--json").json) == {"version"}
