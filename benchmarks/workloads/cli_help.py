"""`awo --help` against the smallest Typer program there is, in the same environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks import product, scratch
from benchmarks.result import Result
from benchmarks.rounds import Contender, Unable, race

ROUNDS = 20
EMPTY = """\
import typer

app = typer.Typer()


@app.command()
def nothing() -> None:
    \"\"\"Do nothing.\"\"\"


app()
"""


def run(quick: bool) -> Result:
    with scratch.place("cli_help") as place:
        return race("help_ms", contenders(place), 3 if quick else ROUNDS)


def contenders(place: Path) -> list[Contender]:
    program = place / "empty.py"
    program.write_text(EMPTY)

    def empty_typer(number: int) -> None:
        _help([sys.executable, str(program)], place)

    def awo(number: int) -> None:
        _help([product.executable()], place)

    return [Contender("empty_typer", "baseline", empty_typer), Contender("awo", "ours", awo)]


def _help(argv: list[str], place: Path) -> None:
    done = subprocess.run([*argv, "--help"], cwd=place, capture_output=True, timeout=60)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Unable(said[-1] if said else f"--help ended with {done.returncode}")
