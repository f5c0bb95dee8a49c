"""The wheel holds everything that the source tree holds, data files included."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import source_scan


def test_the_wheel_is_complete(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(source_scan.ROOT / "src", copy / "src", ignore=skip)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(source_scan.ROOT / name, copy)
    build = "import setuptools.build_meta as b, sys; b.build_wheel(sys.argv[1])"
    made = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=copy, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr[-2000:]
    [wheel] = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    source = copy / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and ".egg-info" not in path.as_posix()
    }
    assert expected - packed == set()
    assert any(name.endswith(".dist-info/entry_points.txt") for name in packed)
