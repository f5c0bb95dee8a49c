"""Bad input: one clear line that names the option, exit code 2, and nothing is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

CYCLE = """\
name: circle
tasks:
  a: {uses: tests.run, needs: [b]}
  b: {uses: tests.run, needs: [a]}
"""
TEMPLATE = """\
name: template
tasks:
  a: {uses: agent.prompt, with: {prompt: "{{ inputs.nobody }}"}}
"""
NEEDY = """\
name: needy
inputs:
  service: {type: string, required: true}
  count: {type: integer, default: 1}
tasks:
  a: {uses: agent.prompt, with: {prompt: "{{ inputs.service }}"}}
"""


class Case(NamedTuple):
    args: tuple[str, ...]
    said: tuple[str, ...]


CASES = [
    Case(("--repo", "ext::sh"), ("ext::", "[--repo]")),
    Case(("--repo", "-oProxyCommand=touch x"), ("may not start with '-'", "[--repo]")),
    Case(("--repo", "calc.py"), ("is a file", "[--repo]")),
    Case(("--repo", "nowhere"), ("nothing at", "[--repo]")),
    Case(("--repo", "."), ("[--repo]",)),
    Case(("--repo", "empty"), ("a commit", "[--repo]")),
    Case(("--repo", "detached"), ("detached", "--base")),
    Case(("--repo", "repo", "--base", "nope"), ("nope", "[--base]")),
    Case(("--repo", "repo", "--workflow", "agent_workflow_bild"), ("agent_workflow_build",)),
    Case(("--repo", "repo", "--workflow", "cycle.yaml"), ("cycle.yaml:3:", "circle")),
    Case(("--repo", "repo", "--workflow", "template.yaml"), ("template.yaml:3:", "nobody")),
    Case(("--repo", "repo", "--workflow", "needy.yaml"), ("service", "[--input service]")),
    Case(
        (
            "--repo",
            "repo",
            "--workflow",
            "needy.yaml",
            "--input",
            "service=a",
            "--input",
            "count=x",
        ),
        ("count", "[--input count]"),
    ),
    Case(("--repo", "repo", "--input", "novalue"), ("novalue", "name=value")),
    Case(("--repo", "repo", "--sandbox", "e2b"), ("e2b", "[--sandbox]")),
    Case(("--repo", "repo", "--agent", "comand"), ("command", "[--agent]")),
    Case(("--repo", "repo", "--agent", "scripted"), ("--agent-script",)),
    Case(("--repo", "repo", "--agent-command", "x 'y"), ("quot", "[--agent-command]")),
    Case(("--repo", "repo", "--priority", "huge"), ("huge", "[--priority]")),
    Case(("--repo", "repo", "--timeout", "0"), ("second", "[--timeout]")),
    Case(("--repo", "repo", "--issue", "$(id)"), ("[--issue]",)),
    Case(("--repo", "repo", "--detach"), ("awo up", "[--detach]")),
]


def prepare(awo: Any) -> None:
    awo.repository()
    (awo.folder / "calc.py").write_text("not a repository")
    empty = awo.folder / "empty"
    empty.mkdir()
    awo.git(empty, "init", "-q", "-b", "main")
    detached = awo.repository("detached")
    awo.git(detached, "checkout", "-q", "--detach")
    for name, text in (("cycle", CYCLE), ("template", TEMPLATE), ("needy", NEEDY)):
        (awo.folder / f"{name}.yaml").write_text(text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case.args))
def test_it_is_refused_in_one_line_and_changes_nothing(awo: Any, case: Case) -> None:
    prepare(awo)
    agent = () if {"--agent", "--agent-command"} & set(case.args) else ("--agent-command", "true")
    done = awo.inside("run", *case.args, *agent, "Do it")
    assert_refused(awo, case, done)


@pytest.mark.parametrize("case", CASES[:2], ids=lambda case: " ".join(case.args))
def test_the_real_command_says_the_same(awo: Any, case: Case) -> None:
    prepare(awo)
    assert_refused(awo, case, awo("run", *case.args, "--agent-command", "true", "Do it"))


def assert_refused(awo: Any, case: Case, done: Any) -> None:
    assert done.code == 2, done.err
    assert [word for word in case.said if word not in done.err] == [], done.err
    [line] = done.err.strip().splitlines()
    assert line.startswith("error: ")
    assert done.out == ""
    assert not awo.home.exists()
    for name in ("repo", "detached"):
        refs = awo.git(awo.folder / name, "for-each-ref", "--format=%(refname)").split()
        assert refs == ["refs/heads/main"]


def test_a_refused_order_does_not_start_the_open_ones(awo: Any) -> None:
    awo.repository()
    gate = "name: gate\ntasks:\n  wait: {approval: {message: Go on?}, uses: tests.run}\n"
    (awo.folder / "gate.yaml").write_text(gate)
    command = ("run", "--repo", "repo", "--agent-command", "true", "x")
    assert awo(*command, "--workflow", "gate.yaml").code == 3
    before = files(awo.home)
    assert awo(*command, "--workflow", "nope").code == 2
    assert awo("show", "wo-aaaa").code == 2
    assert files(awo.home) == before


def files(home: Path) -> dict[str, bytes]:
    """Everything but SQLite's own index of its log, which every reader touches."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.stat().st_size and not path.name.endswith("-shm")
    }


def test_a_refusal_in_json_is_one_document(awo: Any) -> None:
    done = awo.inside("run", "--repo", "ext::sh", "--agent-command", "true", "--json", "x")
    assert done.code == 2
    assert done.json["error"]["code"] == "repository_url_scheme"
    assert done.json["error"]["field"] == "repository_url"


@pytest.mark.parametrize(
    ("args", "said"),
    [(("list", "--limit", "-1"), "--limit"), (("list", "--bogus"), "--bogus"), (("nope",), "nope")],
)
def test_a_wrong_command_line_is_refused_like_everything(
    awo: Any, args: tuple[str, ...], said: str
) -> None:
    done = awo(*args, "--json")
    assert done.code == 2
    [line] = done.err.strip().splitlines()
    assert line.startswith("error: ") and said in line
    assert done.json["error"]["code"] == "usage"
    assert awo(*args).out == ""


def test_an_order_says_what_to_do(awo: Any) -> None:
    awo.repository()
    command = ("run", "--repo", "repo", "--agent-command", "true", "--json")
    done = awo.inside(*command)
    assert done.code == 2
    assert (done.json["error"]["code"], done.json["error"]["field"]) == (
        "prompt_missing",
        "initial_prompt",
    )
    assert not awo.home.exists()


def test_lint_tells_every_problem_with_its_line(awo: Any) -> None:
    (awo.folder / "bad.yaml").write_text(CYCLE + "  c: {uses: tests.rum}\n")
    done = awo.inside("workflow", "lint", "bad.yaml")
    assert done.code == 2
    lines = done.err.strip().splitlines()
    assert [line.split(": ")[1] for line in lines] == ["bad.yaml:3:24", "bad.yaml:5:7"]
    (awo.folder / "good.yaml").write_text(NEEDY)
    assert awo.inside("workflow", "lint", "good.yaml", "--json").json["workflow"]["name"] == "needy"
