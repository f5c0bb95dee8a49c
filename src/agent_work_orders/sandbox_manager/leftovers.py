"""What building and testing leave behind: not part of the work, so not committed.

Rules:
- Only what the parent commit does not track. A committed `node_modules` stays as the agent left it.
- By a name that nothing else has, or by evidence: `pyvenv.cfg` makes a virtual environment, a valid
  `CACHEDIR.TAG` a cache (cargo's `target` has one), `PKG-INFO` an egg-info, SQLite's first bytes
  coverage data. A folder in which something is tracked is never left out by evidence, and none is
  because it is called `build`, `dist` or `target`.
- What is left out is named. Nothing can be hidden by it: it is neither published nor unsaid.
- A repository's own `.gitignore` goes before; what that leaves out is the repository's business.

The words for git are in a file of their own, which only the host's step reads: the agent's own git
sees none of it. In the common case it takes three short processes. The walk also notes large files,
for commit_size.py.
"""

from __future__ import annotations

from agent_work_orders.sandbox_manager import commit_size
from agent_work_orders.sandbox_manager.sandbox import LeftOut

MOST_NAMED = 20
FOLDERS = (
    "__pycache__", "node_modules", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox",
    ".eggs", ".hypothesis", ".ipynb_checkpoints", ".nyc_output",
)  # fmt: skip
FILES = ("*.py[co]", ".DS_Store", "Thumbs.db")
SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55"
"""Of the Cache Directory Tagging Specification."""


_PATTERNS = " ".join(f"'{word}'" for word in (*(f"{name}/" for name in FOLDERS), *FILES))
_PRUNED = " -o ".join(f"-name '{name}'" for name in FOLDERS)
_AWK = " ".join(f'left["{name}"];' for name in FOLDERS)

SCRIPT = (
    """
by_evidence() {
  find . -path ./.git -prune -o -type d \\( PRUNED \\) -prune -o -type f LARGE \\
    \\( -name pyvenv.cfg -o -name CACHEDIR.TAG -o -name PKG-INFO -o -name .coverage \\
    -o -name '.coverage.*' \\) \\
    -exec sh -c '
    newline="
"
    for found do
      folder=${found%/*} what=${found%/*}/
      case $found in *"$newline"*) continue ;; esac
      case ${found##*/} in
      CACHEDIR.TAG) [ "$(head -c 43 "$found")" = "SIGNATURE" ] || continue ;;
      PKG-INFO) case $folder in *.egg-info) ;; *) continue ;; esac ;;
      .coverage*) [ "$(head -c 15 "$found")" = "SQLite format 3" ] || continue; what=$found ;;
      esac
      [ "$what" != ./ ] || continue
      [ -n "$(git ls-files -- "${what#./}" | head -c 1)" ] || printf "%s\\n" "${what#.}"
    done | sed "s/[][\\\\\\\\*?!# ]/\\\\\\\\&/g"' sh {} + 2> /dev/null
}
# Folders of such a name in which something is tracked, and those that they are in.
tracked() {
  git ls-files | awk -F/ 'BEGIN { AWK }
    !/^"/ { path = ""
      for (n = 1; n < NF; n++) {
        path = path "/" $n
        if ($n in left && !seen[path]++) {
          shown = path
          gsub(/[][\\\\*?!# ]/, "\\\\\\\\&", shown)
          print "!" shown "/"
        }
      } }'
}
leave_out() { { printf '%s\\n' PATTERNS; tracked; by_evidence; } > "$GIT_DIR/leftovers"; }
# The number of names, then the first of them. Each stands in one line: git quotes odd ones.
left_out() {
  git ls-files --others --directory --no-empty-directory --exclude-per-directory=.gitignore \\
    --exclude-from="$GIT_DIR/info/exclude" |
    awk 'NR <= MOST { first = first "\\n" $0 } END { print NR first }'
}
""".replace("PRUNED", _PRUNED)
    .replace("SIGNATURE", SIGNATURE)
    .replace("AWK", _AWK)
    .replace("PATTERNS", _PATTERNS)
    .replace("MOST", str(MOST_NAMED))
    .replace("LARGE", commit_size.NOTED)
)


def read(lines: list[str]) -> LeftOut:
    """What `left_out` said."""
    if not lines or not lines[0].strip().isdigit():
        return LeftOut()
    return LeftOut(count=int(lines[0]), names=tuple(lines[1 : MOST_NAMED + 1]))
