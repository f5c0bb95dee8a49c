"""What can only be decided with the pushed objects at hand: a hook that git runs in quarantine.

It names each offence on a line of its own, `simulator <kind> <ref> <detail>`; the server turns
them into the words that GitHub uses. What it forbids comes in its environment.
"""

from __future__ import annotations

from pathlib import Path

NO_FORCE = "SIMULATOR_NO_FORCE"
NO_WORKFLOWS = "SIMULATOR_NO_WORKFLOWS"
NO_MERGES = "SIMULATOR_NO_MERGES"
NO_SECRETS = "SIMULATOR_NO_SECRETS"
LARGEST_BYTES = "SIMULATOR_LARGEST_BYTES"
# What push protection looks for, as far as it is simulated: GitHub's and Amazon's keys.
SECRETS = "gh[pos]_[A-Za-z0-9]{36}|AKIA[0-9A-Z]{16}"

_SCRIPT = f"""#!/bin/sh
status=0
zero=0000000000000000000000000000000000000000
listed() {{ printf '%s\\n' "$1" | grep -Fqx -- "$2"; }}
while read -r old new ref; do
    if [ "$new" = $zero ]; then continue; fi
    if [ "$old" != $zero ] && listed "${NO_FORCE}" "$ref"; then
        if ! git merge-base --is-ancestor "$old" "$new"; then
            echo "simulator force $ref -" >&2; status=1
        fi
    fi
    if listed "${NO_MERGES}" "$ref"; then
        if [ -n "$(git rev-list --merges --max-count=1 "$new" --not --all)" ]; then
            echo "simulator merge $ref -" >&2; status=1
        fi
    fi
    if [ -n "${NO_WORKFLOWS}" ]; then
        path=$(git rev-list "$new" --not --all | while read -r commit; do
            git diff-tree -r --root --no-commit-id --name-only "$commit" -- .github/workflows
        done | head -n 1)
        if [ -n "$path" ]; then
            echo "simulator workflow $ref $path" >&2; status=1
        fi
    fi
    large=$(git rev-list --objects "$new" --not --all |
        git cat-file --batch-check='%(objectsize) %(rest)' |
        while read -r size name; do
            if [ "$size" -gt "${LARGEST_BYTES}" ]; then echo "$name"; fi
        done | head -n 1)
    if [ -n "$large" ]; then
        echo "simulator large $ref $large" >&2; status=1
    fi
    if [ -n "${NO_SECRETS}" ]; then
        found=$(git rev-list "$new" --not --all | while read -r commit; do
            git grep -l -I -E "{SECRETS}" "$commit" --
        done | head -n 1)
        if [ -n "$found" ]; then
            echo "simulator secret $ref $found" >&2; status=1
        fi
    fi
done
exit $status
"""


def install(folder: Path) -> Path:
    """The folder for `core.hooksPath`."""
    folder.mkdir(parents=True, exist_ok=True)
    hook = folder / "pre-receive"
    hook.write_text(_SCRIPT, encoding="ascii")
    hook.chmod(0o755)
    return folder
