"""What a repository tells agents, read from the trusted base commit in the mirror."""

from __future__ import annotations

from agent_work_orders.command_loader import instructions
from agent_work_orders.command_loader.catalogue import COUNT_LIMIT
from agent_work_orders.repositories.mirror import Mirror

# Commands may stand in folders of `.claude/commands`, not arbitrarily deep ones.
FOLDERS_DEEP = 6
FOLDER_MODE = "040000"
FILE_MODES = ("100644", "100755")
# The catalogue refuses more commands than its limit; nobody has as many prompts again.
MOST_FILES = 2 * COUNT_LIMIT
# Larger than any file that is used: what is cut here is refused or cut by its reader.
FILE_LIMIT_BYTES = 256 * 1024


async def base_files(mirror: Mirror, sha: str) -> dict[str, bytes]:
    """The instruction and command files of a commit, `{path: content}`."""
    found: dict[str, bytes] = {}
    names = ["AGENTS.md", "CLAUDE.md", ".claude/", ".awo/"]
    for _ in range(FOLDERS_DEEP):
        entries = await mirror.list_tree(sha, *names)
        for path in filter(instructions.is_wanted, entries):
            mode, object_id = entries[path]
            if mode in FILE_MODES and len(found) < MOST_FILES:
                found[path] = await mirror.head_of(object_id, FILE_LIMIT_BYTES)
        names = [f"{path}/" for path, (mode, _) in entries.items() if mode == FOLDER_MODE]
        if not names:
            break
    return found
