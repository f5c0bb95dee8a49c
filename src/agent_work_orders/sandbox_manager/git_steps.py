"""The git steps that run inside a sandbox, as the agent's user, each as one execution.

Fixed scripts: everything variable comes as an argument or in the environment. They see a git
directory that the host has just written, never the agent's own, and no configuration of it.
"""

from __future__ import annotations

from agent_work_orders.sandbox_manager import commit_size, leftovers

TIMEOUT_S = 900.0
# Of nested `.git` folders while a commit is made.
HIDDEN_SUFFIX = ".git-set-aside"
# Who commits in repositories that agents and their tests make for themselves.
IDENTITY = b"[user]\n\tname = agent\n\temail = agent@localhost\n"

# $1: commit. From the index of the last checkout or commit. `clean` goes first: it takes away what
# stands in the way of tracked files, a link in place of a folder for example.
RESET = """set -e
git clean -ffdxq
git read-tree --reset -u "$1"
"""

# $1: commit. Copies every object that the branch needs, then stops borrowing.
CHECKOUT_COPY = """set -e
git repack -a -d -q
rm "$GIT_DIR/objects/info/alternates"
git read-tree --reset -u "$1"
"""

# No arguments. The files stay as they are; only the objects are copied.
COPY = """set -e
git repack -a -d -q
rm "$GIT_DIR/objects/info/alternates"
"""

# $1: parent commit, $2: file for the pack, $3: a moment after now, in seconds, $4: how many bytes a
# commit may bring, $5: from how many on a file is a large one. Says the tree's id, `same` if
# nothing changed, how `add` ended, and `clean` if no file is left outside the tree; then what was
# left out on purpose (leftovers.py). Or that it is too much (commit_size.py).
# Nested repositories are set aside: their files are committed, and nothing of their
# configuration is used. Submodules of the parent commit stay what they are.
TREE = f"""limit_bytes=$4 large_bytes=$5
{leftovers.SCRIPT}{commit_size.SCRIPT}
set_aside() {{
  find . -mindepth 2 -name .git -prune -exec sh -c '
    for found do
      folder=${{found%/.git}}
      case $(git ls-files --stage -- "${{folder#./}}") in 160000*) continue ;; esac
      mv "$found" "$folder/x{HIDDEN_SUFFIX}"
    done' sh {{}} +
}}
put_back() {{
  find . -mindepth 2 -name 'x{HIDDEN_SUFFIX}' -prune -exec sh -c '
    for found do mv "$found" "${{found%/*}}/.git"; done' sh {{}} +
}}
look() {{ nested=$(find . -mindepth 2 -name .git -prune -print -quit 2> /dev/null); }}
look
[ -z "$nested" ] || set_aside 2> /dev/null
# Files of the second in which the index was written count as changed, and `add` stores every one
# of them again. Nothing else runs here now: what the refresh compared by content stays so, and a
# later date lets `add` believe it. Changed ones were marked by the refresh itself.
git update-index -q --refresh --force-write-index > /dev/null 2>&1
touch -d @"$3" "$GIT_DIR/index"
check_size() {{
  more=$(changed_large)
  [ -n "$more" ] || return 0
  [ -z "$nested" ] || put_back
  printf '%s\\n' "$more"
  exit 0
}}
leave_out
check_size
said=$(git -c core.excludesFile="$GIT_DIR/leftovers" add -A --ignore-errors 2>&1)
added=$?
case $said in
*"Permission denied"*)
  # What the agent closed is its own: open it, and look again at what came to light.
  find . -path ./.git -prune -o -type d ! -perm -u=rwx -exec chmod u+rwx {{}} \\; \\
    -o -type f ! -perm -u=r -exec chmod u+r {{}} + 2> /dev/null
  [ -n "$nested" ] || look
  [ -z "$nested" ] || set_aside
  leave_out
  check_size
  git -c core.excludesFile="$GIT_DIR/leftovers" add -A --ignore-errors
  added=$? ;;
*) printf '%s\\n' "$said" >&2 ;;
esac
[ -z "$nested" ] || put_back
# Killed: what it did not come to would look as if nobody had changed it.
[ "$added" -le 128 ] || exit "$added"
rm "$GIT_DIR/leftovers"
left=clean left_out=
if [ -n "$nested$(git ls-files --others --directory | head -c 1)" ]; then
  left=more left_out=$(left_out)
fi
tree=$(git write-tree) || exit 91
before=$(git rev-parse --verify "$1^{{tree}}") || exit 92
if [ "$tree" = "$before" ]; then
  echo "$tree same $added more"
  printf '%s\\n' "$left_out"
  exit 0
fi
printf '%s\\n^%s\\n' "$tree" "$before" |
  git pack-objects --revs --thin --stdout -q > "$2" || exit 93
if [ "$(stat -c %s "$2")" -gt "$large_bytes" ]; then
  more=$(changed_in_all "$before" "$tree")
  [ -z "$more" ] || {{ printf '%s\\n' "$more"; exit 0; }}
fi
echo "$tree changed $added $left"
printf '%s\\n' "$left_out"
"""

_HARDENING = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.autocrlf", "false"),
    ("core.symlinks", "true"),
    ("core.fileMode", "true"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("core.precomposeUnicode", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
    ("safe.directory", "*"),
    ("gc.auto", "0"),
    ("pack.threads", "1"),
    # What is made here is copied to the mirror, and only there it has to survive a power loss.
    ("core.fsync", "none"),
)


def checkout(sha: str) -> list[str]:
    return ["git", "read-tree", "--reset", "-u", sha]


def argv(script: str, *arguments: str) -> list[str]:
    return ["/bin/sh", "-c", script, "sh", *arguments]


def environment(git: str, directory: str, work_tree: str, temporary: str) -> dict[str, str]:
    """For git inside: no configuration but ours, no home."""
    folder = git.rpartition("/")[0]
    env = {
        "PATH": f"{folder}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "TMPDIR": temporary,
        "LC_ALL": "C",
        "GIT_DIR": directory,
        "GIT_WORK_TREE": work_tree,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_CONFIG_COUNT": str(len(_HARDENING)),
    }
    for number, (key, value) in enumerate(_HARDENING):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    return env
