"""One Python environment per subject, made under `.bench/` from the public registries."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec

from benchmarks.result import ROOT, SCRATCH, Role

HERE = Path(__file__).resolve().parent
INSTALL_LIMIT_S = 300


class Subject(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    title: str
    role: Role
    packages: list[str]
    npm: str | None = None
    npm_binary: str | None = None
    npm_env: str | None = None


class NotInstalled(Exception):
    pass


def catalogue() -> list[Subject]:
    raw = tomllib.loads((HERE / "subjects" / "catalogue.toml").read_text())
    return msgspec.convert(raw["subject"], list[Subject])


def provide(subject: Subject) -> tuple[Path, dict[str, str]]:
    """The interpreter to run the subject with, and what its environment needs. A subject without
    packages runs in ours."""
    if not subject.packages:
        return Path(sys.executable), {}
    place = SCRATCH / "environments" / subject.name
    stamp, wanted = place / "installed", _fingerprint(subject)
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(place, ignore_errors=True)
        _install(subject, place)
        stamp.write_text(wanted)
    extra = {}
    if subject.npm_env and subject.npm_binary:
        extra[subject.npm_env] = str(place / "npm" / subject.npm_binary)
    return place / "bin" / "python", extra


def versions(python: Path, subject: Subject) -> str:
    """`name version` of what was measured, for the page."""
    if not subject.packages:
        return ""
    code = (
        "import sys, importlib.metadata as m;"
        "print(', '.join(f'{n} {m.version(n)}' for n in sys.argv[1:]))"
    )
    shown = _run([str(python), "-c", code, *subject.packages]).strip()
    return f"{shown}, {subject.npm.replace('@', ' ').strip()}" if subject.npm else shown


def _install(subject: Subject, place: Path) -> None:
    uv = _uv()
    _run([uv, "venv", "--quiet", "--python", sys.executable, str(place)])
    _run(
        [
            uv,
            "pip",
            "install",
            "--quiet",
            "--python",
            str(place / "bin" / "python"),
            "--constraint",
            str(_constraints()),
            *subject.packages,
        ]
    )
    if subject.npm:
        npm = shutil.which("npm")
        if npm is None:
            raise NotInstalled(f"npm is needed for {subject.npm} and is not on the path")
        _run(
            [
                npm,
                "install",
                "--silent",
                "--no-save",
                "--ignore-scripts",
                "--prefix",
                str(place / "npm"),
                subject.npm,
            ]
        )
        if subject.npm_binary and not (place / "npm" / subject.npm_binary).exists():
            raise NotInstalled(f"{subject.npm} has no binary for this machine")


def _constraints() -> Path:
    locked = HERE / "requirements.txt"
    return locked if locked.exists() else HERE / "requirements.in"


def _fingerprint(subject: Subject) -> str:
    text = _constraints().read_bytes() + repr(subject).encode() + sys.version.encode()
    return hashlib.sha256(text).hexdigest()


def _uv() -> str:
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        raise NotInstalled("uv is needed to install the peers; `pip install uv`")
    return found


def _run(argv: list[str]) -> str:
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_LIMIT_S,
            cwd=ROOT,
            env={**os.environ, "NO_UPDATE_NOTIFIER": "1"},
        )
    except subprocess.TimeoutExpired as late:
        raise NotInstalled(f"{argv[0]} took longer than {INSTALL_LIMIT_S} s") from late
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise NotInstalled(" ".join(last) or f"{Path(argv[0]).name} ended {done.returncode}")
    return done.stdout
