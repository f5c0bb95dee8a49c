"""The folder that everything is in."""

from __future__ import annotations

from pathlib import Path

from agent_work_orders.errors import Environmental

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
    """A data directory inside a repository: git should see what people wrote there, not ours.
    Environmental `data_directory_unusable`."""
    ignore = home / ".gitignore"
    try:
        if not ignore.exists():
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            ignore.write_text(IGNORED)
    except OSError as error:
        raise unusable(home, error) from error


def unusable(home: Path, error: OSError) -> Environmental:
    return Environmental(
        "data_directory_unusable",
        f"cannot write into {home} ({error.strerror})",
        hint="Give this user a writable AWO_HOME with free space; restore nothing yet: the data "
        "in it was not touched.",
    )
