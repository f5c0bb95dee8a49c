"""A value that somebody gave in the wrong form, or in the wrong place, is never told again.

Each setting is given a planted secret in each of many malformed shapes; then everything that a
command wrote is searched for any piece of it.
"""

from __future__ import annotations

import base64
import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent_work_orders import settings
from agent_work_orders.cli.main import app
from agent_work_orders.errors import Refused
from github_simulator.outside.app_jwt import new_key_pair

pytestmark = pytest.mark.slow

CANARY = "Kx7Qv2mZp9Lw4Rt8Ny3Hc6Bd"
PIECE = 10
"""Libraries shorten what they quote: any piece of this length is a find."""
PEM = new_key_pair()[0]
WRAPPED = base64.b64encode(f"{CANARY}{CANARY}{CANARY}".encode()).decode()
BESIDES = ("AWO_URL", "AWO_API_KEY")
"""Of the command line alone."""
VARIABLES = (*(field.variable for field in settings.FIELDS), *BESIDES)
TOLD = ("AWO_HOME",)
"""Where the data is, is told in many places, once it is a path."""


def shapes(folder: Path) -> dict[str, tuple[str, str]]:
    """By name: what is given, and what of it may not come out."""
    file = folder / "secret.txt"
    file.write_text(CANARY)
    file.chmod(0o600)
    body = "\n".join(PEM.strip().splitlines()[1:])
    return {
        "too long": (CANARY * 300, CANARY),
        "several lines": (f"{CANARY}\n{CANARY}", CANARY),
        "base64": (WRAPPED, WRAPPED),
        "json": (f'{{"key": "{CANARY}"}}', CANARY),
        "an address with a user": (f"https://{CANARY}:x@example.invalid/", CANARY),
        "a user alone": (f"https://{CANARY}@example.invalid", CANARY),
        "escapes": (f"{CANARY}\\0\\x00%00\\u0000", CANARY),
        "a word": (CANARY, CANARY),
        "a path of nothing": (f"{folder}/nothing/{CANARY}.pem", CANARY),
        "a file with it": (str(file), CANARY),
        "a key without its first line": (body, body),
        "a key in base64, cut": (base64.b64encode(PEM.encode()).decode()[:-40], PEM),
        "control characters": (f"\x1b]0;{CANARY}\x07\x7f", CANARY),
        "not text": (f"{CANARY}\udcff", CANARY),
        "a list": (f"{CANARY},,{CANARY}", CANARY),
        "after a number": (f"12{CANARY}", CANARY),
    }


NAMES = tuple(shapes(Path("/tmp")))


def pieces(planted: str) -> Iterator[str]:
    for line in planted.splitlines():
        for text in (line, base64.b64encode(line.encode()).decode().rstrip("=")[:-2]):
            if not line.startswith("-----"):
                yield from (text[n : n + PIECE] for n in range(max(0, len(text) - PIECE + 1)))


def leaked(planted: str, *texts: str) -> bool:
    return any(piece in text for piece in set(pieces(planted)) for text in texts)


def written(folder: Path) -> str:
    logs = (folder / "home" / "logs").rglob("*") if (folder / "home").exists() else ()
    return "".join(one.read_text(errors="replace") for one in logs if one.is_file())


def around(variable: str, value: str) -> dict[str, str]:
    """An App needs its id and its key: without the other, neither would be looked at."""
    beside = {"GITHUB_PRIVATE_KEY": {"GITHUB_APP_ID": "7"}, "GITHUB_APP_ID": {}}
    return {**beside.get(variable, {}), variable: value}


@pytest.fixture
def shaped(awo: Any) -> dict[str, tuple[str, str]]:
    return shapes(awo.folder)


SECRET = ("KEY", "TOKEN", "SECRET")


@pytest.mark.fault("N11")
@pytest.mark.parametrize(
    "variable",
    [
        pytest.param(name, marks=() if name.endswith(SECRET) else pytest.mark.slow)
        for name in VARIABLES
    ],
)
def test_no_command_tells_the_value_of_a_setting(
    awo: Any, shaped: dict[str, tuple[str, str]], variable: str
) -> None:
    for name, (value, planted) in shaped.items():
        for command in (["list", "--json"], ["credentials", "list"], ["deliveries", "list"]):
            done = awo.inside(*command, **around(variable, value))
            if variable in TOLD and "setting_invalid" not in done.out + done.err:
                continue
            assert not leaked(planted, done.out, done.err), (variable, name, command)
            assert "Traceback" not in done.err and done.code in (0, 1, 2)


@pytest.mark.slow
@pytest.mark.fault("N11")
@pytest.mark.parametrize("variable", [name for name in VARIABLES if name not in BESIDES])
def test_neither_doctor_nor_a_server_tells_it(
    awo: Any, shaped: dict[str, tuple[str, str]], variable: str
) -> None:
    for name, (value, planted) in shaped.items():
        environment = around(variable, value)
        done = awo.inside("doctor", **environment)
        said = [done.out, done.err, *served(awo, environment), written(awo.folder)]
        if variable not in TOLD:
            assert not leaked(planted, *said), (variable, name)


def served(awo: Any, environment: dict[str, str]) -> tuple[str, str]:
    """What `awo up` writes until it listens and ends, or is refused."""
    try:
        settings.load({"AWO_HOME": str(awo.home), **environment})
    except Refused:
        done = awo.inside("up", "--no-open", **environment)
        assert done.code == 2, done
        return done.out, done.err
    process = awo.start("up", "--no-open", "--port", "0", **environment)
    guard = threading.Timer(60, process.kill)
    guard.start()
    first = process.stdout.readline()
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    out, err = process.communicate()
    guard.cancel()
    return first + out, err


@pytest.mark.fault("N11")
@pytest.mark.parametrize("variable", settings.KEPT)
def test_what_cannot_be_kept_is_not_told(
    awo: Any, shaped: dict[str, tuple[str, str]], variable: str
) -> None:
    for name, (value, planted) in shaped.items():
        given = value.encode("utf-8", "surrogateescape")
        done = CliRunner().invoke(
            app, ["credentials", "set", variable], input=given, env={"AWO_HOME": str(awo.home)}
        )
        # Of a secret that is kept its last four characters are shown.
        assert not leaked(planted, done.stdout, done.stderr), (variable, name)


@pytest.mark.fault("N11")
def test_a_secret_given_in_the_place_of_a_name_is_not_told(awo: Any) -> None:
    token = f"ghp_{CANARY}{CANARY}"
    for words in (["set", token], ["remove", token], ["set", f"GITHUB_TOKEN={token}"]):
        done = awo.inside("credentials", *words)
        assert done.code == 2 and not leaked(token, done.out, done.err), words


@pytest.mark.fault("N11")
def test_an_address_of_a_server_or_a_repository_does_not_come_out(awo: Any) -> None:
    for url in (f"https://{CANARY}@127.0.0.1:1", f"ftp://x:{CANARY}@host", f"http://[{CANARY}"):
        done = awo.inside("list", "--url", url)
        assert done.code and not leaked(CANARY, done.out, done.err), url
        done = awo.inside("run", "--repo", url, "Do it.")
        assert done.code and not leaked(CANARY, done.out, done.err), url


@pytest.mark.fault("N11")
def test_a_failure_that_nobody_foresaw_is_told_without_its_words() -> None:
    """Libraries quote what they were given: pydantic, msgspec, cryptography, httpx, json."""
    import msgspec

    from agent_work_orders.cli.outcome import explain

    foreseen: list[Exception] = []
    for make in (
        lambda: int(CANARY),
        lambda: msgspec.convert(CANARY, type=settings.LogLevel),
        lambda: open(f"/nonexistent/{CANARY}"),  # noqa: SIM115 - it is not there to be opened
        lambda: {}[CANARY],
    ):
        try:
            make()
        except (ValueError, OSError, KeyError) as error:
            foreseen.append(error)
    assert len(foreseen) == 4
    for error in foreseen:
        told = explain(error)
        assert told.code == "internal" and type(error).__name__ in told.message
        assert not leaked(CANARY, told.message, told.hint)
