"""How much a commit may bring, found out before it is made.

What is published is searched for secrets first, and that has a limit (tools/git.py). So more than a
commit's share is refused at the moment of committing, with the names of the largest files, and
before anything large is read: a sparse file of 20 GB costs a look at its size.

What counts is what a file grows by: a new one in full, one that the parent has by the difference.
Large files are found by the walk that looks for leftovers; many small ones together are counted
afterwards, from the tree that was made of them.
"""

from __future__ import annotations

import msgspec

from agent_work_orders.errors import Permanent

# Below the 128 MiB that are searched before publishing: a diff has a sign on every line.
LIMIT_BYTES = 100 * 1024 * 1024
MOST_NAMED = 5
WORD = "large"
"""Begins what the script says instead of a tree."""


class Larger(msgspec.Struct, frozen=True):
    """`total_bytes` is a lower bound: nobody counts on beyond the limit."""

    total_bytes: int
    largest: tuple[tuple[str, int], ...]


def large_bytes() -> int:
    """What is looked at one by one: fewer than so many of them cannot exceed the limit alone."""
    return LIMIT_BYTES // 128


# For `find`, before further conditions on a file: it is always true.
NOTED = '\\( -size +"$large_bytes"c -fprint0 "$GIT_DIR/large" -o -true \\)'

SCRIPT = f"""
# Says the word, the sum and the largest, if lines of "bytes name" exceed the limit together.
too_large() {{
  awk -v limit="$limit_bytes" '{{ total += $1; if (NR <= {MOST_NAMED}) first = first "\\n" $0 }}
    END {{ if (total > limit) printf "{WORD} %.0f%s\\n", total, first }}'
}}
changed_large() {{
  [ -s "$GIT_DIR/large" ] || return 0
  sed -z 's,^\\./,,' "$GIT_DIR/large" | sort -z > "$GIT_DIR/large-names"
  {{ git -c core.excludesFile="$GIT_DIR/leftovers" ls-files -z --others --exclude-standard
    git diff-files -z --name-only --diff-filter=MT; }} | sort -z |
    comm -z -12 - "$GIT_DIR/large-names" |
    xargs -0 -r stat --printf='%s %n\\0' | sort -z -rn |
    xargs -0 -r sh -c '
      total=0
      for one do
        name=${{one#* }}
        grown=$((${{one%% *}} - $(git cat-file -s ":0:$name" 2> /dev/null || echo 0)))
        [ "$grown" -gt 0 ] || continue
        printf "%s %s\\0" "$grown" "$name"
        total=$((total + grown))
        [ "$total" -le "$0" ] || break
      done' "$limit_bytes" | tr '\\0\\n' '\\n?' | sort -rn | too_large
}}
# $1: the tree before, $2: the tree after.
changed_in_all() {{
  git diff-tree -r --no-renames "$1" "$2" > "$GIT_DIR/large"
  awk '{{ print $3; print $4 }}' "$GIT_DIR/large" |
    git cat-file --batch-check='%(objectsize)' |
    awk '{{ size = ($2 == "missing") ? 0 : $1 }}
      NR % 2 {{ old = size; next }} {{ print (size > old) ? size - old : 0 }}' |
    paste -d ' ' - "$GIT_DIR/large" | sed 's/^\\([0-9]*\\) [^\\t]*\\t/\\1 /' | sort -rn | too_large
}}
"""


def read(lines: list[str]) -> Larger | None:
    """What the script said, if it was about this."""
    head = lines[0].split() if lines else []
    if len(head) != 2 or head[0] != WORD or not head[1].isdigit():
        return None
    largest = []
    for line in lines[1 : MOST_NAMED + 1]:
        size, _, name = line.partition(" ")
        if size.isdigit():
            largest.append((name, int(size)))
    return Larger(int(head[1]), tuple(largest))


def refusal(found: Larger) -> Permanent:
    names = ", ".join(f"{name} ({readable(size)})" for name, size in found.largest)
    return Permanent(
        "changes_too_large",
        f"The changes bring {readable(found.total_bytes)} or more, and a commit may bring "
        f"{readable(LIMIT_BYTES)}. The largest: {names}",
        hint="Add what is not part of the work to .gitignore, or tell the agent to remove it, and "
        "retry: its files are kept.",
        files=[name for name, _ in found.largest],
    )


def readable(size_bytes: int) -> str:
    for unit, factor in (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes} bytes"
