"""How long people wait for a command, against the smallest Typer program there is: `awo --help`,
`awo list` of a data directory that nobody owns, and `awo up` until it is ready."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import product, scratch
from benchmarks.result import Result
from benchmarks.rounds import Contender, Unable, race

ROUNDS = 8
EMPTY = """\
import typer

app = typer.Typer()


@app.command()
def nothing() -> None:
    \"\"\"Do nothing.\"\"\"


app()
"""


def run(quick: bool) -> Result:
    rounds = 2 if quick else ROUNDS
    results: list[Result] = []
    for metric, act in (("help_ms", _help), ("list_ms", _list), ("ready_ms", _ready)):
        with scratch.place("cli_start") as place:
            results.append(race(metric, contenders(place, act), rounds))
    return Result(
        measurements=[one for result in results for one in result.measurements],
        failures=[one for result in results for one in result.failures],
    )


def contenders(place: Path, act: Callable[[Path], float | None]) -> list[Contender]:
    program = place / "empty.py"
    program.write_text(EMPTY)
    home = place / "home"
    home.mkdir()
    with product.server(home):
        pass  # a data directory as it is after a first day

    def empty_typer(number: int) -> None:
        _ran([sys.executable, str(program)], place)

    def awo(number: int) -> float | None:
        return act(home)

    return [Contender("empty_typer", "baseline", empty_typer), Contender("awo", "ours", awo)]


def _help(home: Path) -> None:
    _ran([product.executable(), "--help"], home)


def _list(home: Path) -> None:
    _ran([product.executable(), "list", "--home", str(home)], home)


def _ready(home: Path) -> float:
    with product.server(home) as server:
        return server.ready_s


def _ran(argv: list[str], place: Path) -> None:
    """All of its time counts."""
    done = subprocess.run(argv, cwd=place, capture_output=True, timeout=60)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Unable(said[-1] if said else f"{argv[0]} ended with {done.returncode}")
