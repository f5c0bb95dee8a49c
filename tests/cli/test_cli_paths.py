"""Every option that takes a path or a port refuses what cannot be one, in a line that names it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from agent_work_orders.cli.main import app

# Where a required argument is needed for the option to be looked at.
ARGUMENTS = {
    ("workflow", "lint"): ("flow.yaml",),
    ("workflow", "run"): ("flow.yaml", "--repo", "repo"),
    ("run",): ("--repo", "repo", "--agent-command", "true", "Go"),
    ("override",): ("wo-aaaa", "build", "skip"),
    ("restore",): ("calc.py",),
    ("credentials", "set"): ("GITHUB_TOKEN",),
}
FLOW = "name: flow\ntasks:\n  a: {uses: sandbox.exec, with: {argv: ['true']}}\n"


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    def below(found: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        if hasattr(found, "commands"):
            for name, one in found.commands.items():
                yield from below(one, (*path, name))
        else:
            yield path, found

    yield from below(typer.main.get_command(app), ())


def arguments_of(path: tuple[str, ...], command: Any) -> tuple[str, ...]:
    needed = [one for one in command.params if not one.opts[0].startswith("-") and one.required]
    return ARGUMENTS.get(path, tuple("wo-aaaa" for _ in needed))


def refused(awo: Any, *args: str, code: int = 2, **env: str) -> str:
    done = awo.inside(*args, **env)
    assert done.code == code, (args, done.err)
    [line] = done.err.strip().splitlines()
    assert line.startswith("error: ") and "should not happen" not in line, (args, line)
    return str(line)


@pytest.fixture
def place(awo: Any) -> Any:
    awo.repository()
    (awo.folder / "file").write_text("a file")
    (awo.folder / "calc.py").write_text("no backup")
    (awo.folder / "flow.yaml").write_text(FLOW)
    return awo


@pytest.mark.slow
@pytest.mark.parametrize("home", ["file", "file/below"])
def test_every_command_refuses_a_file_as_data_directory(place: Any, home: str) -> None:
    seen = 0
    for path, command in commands():
        if "--home" not in {name for one in command.params for name in one.opts}:
            continue
        seen += 1
        line = refused(place, *path, *arguments_of(path, command), "--home", home)
        assert "a file stands there" in line and "[--home or AWO_HOME]" in line, (path, line)
    assert seen > 30
    assert "--home" in refused(place, "list", AWO_HOME=str(place.folder / home))


def test_a_data_directory_that_cannot_be_made_is_said_plainly(place: Any) -> None:
    for args in (("up", "--port", "0"), ("key", "create", "bob")):
        line = refused(place, *args, "--home", "/proc/nowhere", code=1)
        assert "cannot write into /proc/nowhere" in line


@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_every_port_is_one(place: Any, port: str) -> None:
    seen = 0
    for path, command in commands():
        for name in ("--port",):
            if name in {opt for one in command.params for opt in one.opts}:
                seen += 1
                done = place(*path, name, port)
                assert done.code == 2 and name in done.err, done.err
    assert seen == 3


@pytest.mark.parametrize("folder", ["file", "file/below", "/proc/nowhere"])
def test_every_folder_can_be_made(place: Any, folder: str) -> None:
    for args in (
        ("demo", "--folder"), ("demo", "--github", "--folder"), ("simulate", "github", "--folder"),
    ):  # fmt: skip
        assert "[--folder]" in refused(place, *args, folder)


@pytest.mark.parametrize("file", ["/proc/nowhere/x", "file/below", "."])
def test_every_file_can_be_written_or_read(place: Any, file: str) -> None:
    agent = place.agent("echo x >> calc.py")
    order = ("run", "--repo", "repo", "--workflow", "agent_workflow_build", "--json", "Go")
    done = place.inside(*order, "--agent-command", agent)
    order_id = done.json["agent_work_order"]["agent_work_order_id"]
    name = str(place.folder) if file == "." else file.rsplit("/", 1)[-1]
    for line in (
        refused(place, "backup", file, code=2 if file == "." else 1),
        refused(place, "workflow", "lint", file),
        refused(place, "restore", file, "--to", "new"),
        refused(place, "checkout", order_id, file),
    ):
        assert name in line or file in line, line
    script = ("run", "--repo", "repo", "--agent-script", file, "Go")
    assert "[--agent-script]" in refused(place, *script)


def test_a_key_is_somebodys(place: Any) -> None:
    for name in ("", " ", "a\nb", "x" * 81, "-x"):
        line = refused(place, "key", "create", "--", name)
        assert "name has 1 to 80" in line and "[name]" in line
    assert place.inside("key", "list", "--json").json["keys"] == []
