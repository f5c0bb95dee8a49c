"""The folder that everything is in."""

from __future__ import annotations

from pathlib import Path

IGNORED = """\
# Written by awo; workflows, prompts and instructions of people are not ignored.
/.gitignore
/journal.*
/owner.lock
/local.key
/secret.key
/artifacts/
/lost/
/logs/
/mirrors/
/reviews/
/sandboxes/
/transcripts/
/workspaces/
"""


def ignore(home: Path) -> None:
    """A data directory inside a repository: git should see what people wrote there, not ours."""
    ignore = home / ".gitignore"
    if not ignore.exists():
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        ignore.write_text(IGNORED)
