"""Nothing of one person's machine in the repository, and every package pinned by hash."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import source_scan

ROOT = source_scan.ROOT
# Hosts that serve packages. Only a lock file or a configuration would name one.
REGISTRY = re.compile(r"files\.pythonhosted\.org|pypi\.org/simple|registry\.npmjs\.org|/simple/?\s")
HOME = re.compile(r"(?<![\w$}])/(?:home|Users)/(?!agent\b|user\b|runner\b)[a-z]\w*/")


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [path for path in paths if path.is_file() and path != Path(__file__).resolve()]


def texts() -> list[tuple[str, str]]:
    found = []
    for path in tracked():
        content = path.read_bytes()
        if b"\0" not in content[:8000]:
            found.append((path.relative_to(ROOT).as_posix(), content.decode("utf-8", "replace")))
    return found


def registries_of_this_machine() -> set[str]:
    configured = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True
    ).stdout
    for name, value in os.environ.items():
        if "INDEX" in name or "REGISTRY" in name:
            configured += f"\n{value}"
    hosts = re.findall(r"https?://(?:[^/@\s'\"]*@)?([^/\s'\"]+)", configured)
    return {host for host in hosts if "." in host}


def test_no_path_of_this_machine() -> None:
    places = {str(ROOT)} if len(ROOT.parts) > 2 else set()
    if Path.home() not in (Path("/"), Path("/root")):
        places.add(f"{Path.home()}/")
    found = [
        f"{name}: {place}"
        for name, text in texts()
        for place in [*(p for p in places if p in text), *HOME.findall(text)]
    ]
    assert found == []


def test_no_address_of_a_package_registry() -> None:
    hosts = registries_of_this_machine()
    found = [
        name
        for name, text in texts()
        if REGISTRY.search(text) or any(host in text for host in hosts)
    ]
    assert found == []


@pytest.mark.parametrize("name", ["runtime", "dev", "tools", "node"])
def test_requirements_are_pinned_with_hashes_and_nothing_else(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    for entry in text.replace("\\\n", " ").splitlines():
        pin, *hashes = re.split(r"\s+--hash=sha256:", entry.strip())
        assert re.fullmatch(r"[\w.-]+==[^\s;]+( ; [\w.<>=!'() ]+)?", pin), entry
        assert hashes, f"{pin} has no hash"
        assert all(re.fullmatch(r"[0-9a-f]{64}", one) for one in hashes), entry


def test_tests_use_the_versions_of_the_product() -> None:
    def pins(name: str) -> set[str]:
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        return set(re.findall(r"^[\w.-]+==[^\s;]+", text, re.MULTILINE))

    assert pins("runtime") - pins("dev") == set()


def test_scripts_can_be_run() -> None:
    scripts = [p for p in (ROOT / "scripts").iterdir() if p.is_file() and not p.suffix]
    scripts.append(ROOT / ".ci" / "run")
    assert [str(path) for path in scripts if not os.access(path, os.X_OK)] == []
