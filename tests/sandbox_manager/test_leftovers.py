"""What builds and tests leave behind is named and not committed; everything else is committed."""

from __future__ import annotations

from typing import Any

from agent_work_orders.sandbox_manager.leftovers import FOLDERS, MOST_NAMED, SIGNATURE
from agent_work_orders.sandbox_manager.sandbox import LeftOut, Sandbox
from agent_work_orders.testing.conformance.sandbox import AT_MS, AUTHOR, ready, shell

TAG = f"printf '{SIGNATURE}\\n' >"


async def committed(bench: Any, sandbox: Sandbox) -> tuple[set[str], LeftOut]:
    """The paths of the new commit (of the base, without one), and what was left out."""
    found: list[LeftOut] = []
    sha = await sandbox.commit("feat: x\n", author=AUTHOR, at_ms=AT_MS, left_out=found.append)
    [left] = found
    return set(await bench.entries(sha or bench.base_sha)), left


async def test_what_nobody_wrote_is_left_out_and_named(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(
        sandbox,
        f"""
        mkdir -p src/pkg/__pycache__ node_modules/left-pad .pytest_cache .mypy_cache .ruff_cache
        mkdir -p .tox/py .nox/x lib.egg-info target/debug env/bin 'odd [dir]*/env'
        echo code > src/pkg/new.py
        for f in src/pkg/__pycache__/a.pyc stray.pyc node_modules/left-pad/index.js \\
          .pytest_cache/x .mypy_cache/x .ruff_cache/x .tox/py/x .nox/x/y .DS_Store \\
          lib.egg-info/PKG-INFO target/debug/a.o env/bin/python env/pyvenv.cfg \\
          'odd [dir]*/env/pyvenv.cfg' 'odd [dir]*/real.py'; do echo x > "$f"; done
        {TAG} target/CACHEDIR.TAG
        printf 'SQLite format 3\\000' > .coverage
        """,
    )
    paths, left = await committed(bench, sandbox)
    kept = paths - {"README.md", "run.sh", ".gitignore"}
    assert kept == {"src/pkg/new.py", "odd [dir]*/real.py"}
    assert set(left.names) == {
        "src/pkg/__pycache__/", "stray.pyc", "node_modules/", ".pytest_cache/", ".mypy_cache/",
        ".ruff_cache/", ".tox/", ".nox/", ".DS_Store", "lib.egg-info/", "target/", "env/",
        ".coverage", "odd [dir]*/env/",
    }  # fmt: skip
    assert left.count == len(left.names)
    there = await sandbox.execute(["cat", "node_modules/left-pad/index.js"])
    assert there.stdout == b"x\n", "it stays in the workspace"
    status = await sandbox.execute(["git", "status", "--short"])
    assert b"node_modules" in status.stdout, "and the agent's git is told nothing"


async def test_leftovers_alone_are_no_change(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(sandbox, "mkdir a && mkdir a/__pycache__ && echo x > a/__pycache__/b.pyc")
    found: list[LeftOut] = []
    sha = await sandbox.commit("feat: x\n", author=AUTHOR, at_ms=AT_MS, left_out=found.append)
    assert sha is None
    assert found == [LeftOut(count=1, names=("a/",))]


async def test_ordinary_folders_are_not_judged_by_their_names(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(
        sandbox,
        """
        mkdir -p build dist target venv .venv coverage bin obj data
        for d in build dist target venv .venv coverage bin obj data; do echo x > $d/file; done
        echo 'Signature: another' > data/CACHEDIR.TAG
        echo 'about us' > data/PKG-INFO
        echo '[run]' > .coverage.toml
        echo text > .coverage
        """,
    )
    paths, left = await committed(bench, sandbox)
    assert left == LeftOut()
    assert {"build/file", "dist/file", "target/file", "venv/file", ".venv/file"} <= paths
    assert {"data/CACHEDIR.TAG", "data/PKG-INFO", ".coverage.toml", ".coverage"} <= paths


async def test_what_the_base_tracks_is_still_committed(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(
        sandbox,
        """
        mkdir -p node_modules/a/node_modules/b web/__pycache__ src 'odd [x]/node_modules'
        echo 1 > 'odd [x]/node_modules/a.js'
        echo 1 > node_modules/a/index.js; echo 1 > node_modules/a/node_modules/b/x.js
        echo 1 > web/__pycache__/kept.pyc; echo 1 > src/main.py; touch vendor.pyc
        git add -f .; git commit -qm tracked
        printf '!node_modules/\\n!__pycache__/\\n!*.pyc\\n' >> .gitignore
        """,
    )
    paths, left = await committed(bench, sandbox)
    assert "node_modules/a/node_modules/b/x.js" in paths and left == LeftOut()
    await shell(
        sandbox,
        f"""
        printf '*.ignored\\n' > .gitignore; echo 2 > 'odd [x]/node_modules/b.js'
        echo 2 > node_modules/a/index.js; echo 2 > node_modules/a/new.js; rm vendor.pyc
        echo 2 > web/__pycache__/kept.pyc; mkdir -p other/node_modules
        echo 2 > other/node_modules/x.js; echo 2 > src/helper.py
        echo x > src/pyvenv.cfg; {TAG} src/CACHEDIR.TAG
        """,
    )
    found: list[LeftOut] = []
    sha = await sandbox.commit("feat: y\n", author=AUTHOR, at_ms=AT_MS, left_out=found.append)
    entries = await bench.entries(sha)
    assert entries["node_modules/a/index.js"][1] == b"2\n"
    assert entries["web/__pycache__/kept.pyc"][1] == b"2\n"
    assert "odd [x]/node_modules/b.js" in entries
    assert "node_modules/a/new.js" in entries and "vendor.pyc" not in entries
    assert "src/helper.py" in entries, "a folder with tracked files is no cache, whatever it has"
    assert found[0].names == ("other/",)


async def test_the_repositorys_own_rules_go_before(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(
        sandbox,
        """
        printf 'node_modules\\n!keep.pyc\\n' > .gitignore
        mkdir node_modules && echo x > node_modules/a.js
        echo x > keep.pyc; echo x > other.pyc
        """,
    )
    paths, left = await committed(bench, sandbox)
    assert "keep.pyc" in paths and left.names == ("other.pyc",), "what it ignores is not told of"


async def test_many_are_counted_and_the_first_named(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(sandbox, "for n in $(seq 100 160); do mkdir p$n; touch p$n/a.py p$n/b.pyc; done")
    paths, left = await committed(bench, sandbox)
    assert "p100/a.py" in paths and not any(path.endswith(".pyc") for path in paths)
    assert (left.count, len(left.names)) == (61, MOST_NAMED)
    assert left.words()[-1] == "and 41 more"


def test_the_names_are_those_of_folders_that_nobody_writes() -> None:
    assert not {"build", "dist", "target", "venv", "env", "bin"} & set(FOLDERS)


async def test_look_alikes_of_git_are_left_out_and_named(bench: Any) -> None:
    """On other systems `.GIT` is the repository's own folder: such paths never leave, and people
    are told, since somebody wrote them."""
    sandbox = await ready(bench)
    await shell(
        sandbox,
        """
        mkdir -p .GIT GIT~1 sub/.Git 'sub/.git ' && echo x > ok.txt
        for f in .GIT/config GIT~1/a sub/.Git/x 'sub/.git /x'; do echo x > "$f"; done
        """,
    )
    paths, left = await committed(bench, sandbox)
    assert paths - {"README.md", "run.sh", ".gitignore"} == {"ok.txt"}
    assert set(left.names) == {".GIT/", "GIT~1/", "sub/"}


async def test_a_look_alike_alone_is_named(bench: Any) -> None:
    sandbox = await ready(bench)
    await shell(sandbox, "mkdir .GIT && echo x > .GIT/config && echo y >> README.md")
    _, left = await committed(bench, sandbox)
    assert left.names == (".GIT/",)
