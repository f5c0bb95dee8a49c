"""`sandbox.exec`: a program's end is a value or a failure, its output bounded and clean."""

from __future__ import annotations

import asyncio

import pytest
from bench import CANARY, Bench


async def test_a_program_that_ends_well(bench: Bench) -> None:
    ran = await bench.do("sandbox.exec", argv=["sh", "-c", "echo out; echo err >&2"])
    assert ran == {"exit_code": 0, "stdout": "out\n", "stderr": "err\n", "success": True}


async def test_a_program_that_fails(bench: Bench) -> None:
    argv = ["sh", "-c", "echo why; exit 3"]
    failed = await bench.fail("sandbox.exec", argv=argv)
    assert failed.failure.code == "command_failed"
    assert failed.outputs is not None
    assert (failed.outputs["exit_code"], failed.outputs["stdout"]) == (3, "why\n")
    ran = await bench.do("sandbox.exec", argv=argv, check=False)
    assert (ran["success"], ran["exit_code"]) == (False, 3)


async def test_a_program_that_takes_too_long(bench: Bench) -> None:
    argv = ["sh", "-c", "echo begun; sleep 60"]
    failed = await bench.fail("sandbox.exec", argv=argv, timeout_s=1.0)
    assert failed.failure.code == "command_timeout"
    assert failed.outputs is not None and failed.outputs["stdout"] == "begun\n"


async def test_a_missing_program_is_named(bench: Bench) -> None:
    failed = await bench.fail("sandbox.exec", argv=["no-such-program"])
    assert failed.failure.code == "executable_missing"
    assert "no-such-program" in failed.failure.message


@pytest.mark.parametrize(
    "given",
    [
        {"argv": []},
        {"argv": [""]},
        {"argv": ["a\0b"]},
        {"argv": ["true"], "env": {"A": "x\0y"}},
        {"argv": ["true"], "env": {"A": 1}},
        {"argv": ["true"], "env": {"A=B": "x"}},
    ],
)
async def test_what_cannot_be_started_is_the_workflows_fault(
    bench: Bench, given: dict[str, object]
) -> None:
    failed = await bench.fail("sandbox.exec", **given)
    assert failed.failure.code == "command_invalid"


@pytest.mark.fault("L5")
async def test_arguments_and_environment_are_never_a_shell_line(bench: Bench) -> None:
    hostile = "$(touch pwned); `touch pwned` && touch pwned"
    ran = await bench.do("sandbox.exec", argv=["printf", "%s", hostile])
    assert ran["stdout"] == hostile
    ran = await bench.do("sandbox.exec", argv=["printenv", "TITLE"], env={"TITLE": hostile})
    assert ran["stdout"] == hostile + "\n"
    assert not (bench.repo / "pwned").exists()


@pytest.mark.fault("I1")
async def test_output_is_bounded_and_clean(bench: Bench) -> None:
    line = f"yes 0123456789 | head -c 100000; echo; echo {CANARY}; printf '\\377'"
    ran = await bench.do("sandbox.exec", argv=["sh", "-c", line])
    assert len(ran["stdout"]) <= 16 * 1024
    assert "[redacted]" in ran["stdout"] and CANARY not in ran["stdout"]
    assert ran["stdout"].endswith("�")


@pytest.mark.parametrize("after", ["nothing", "a task that failed"])
async def test_programs_share_the_workspace_from_the_first_moment(bench: Bench, after: str) -> None:
    """Each ends only when the other has begun: neither waits for the other's end."""
    if after != "nothing":
        chosen = {"agent": {"name": "command", "argv": ["sh", "-c", "exit 3"]}}
        await bench.fail("agent.prompt", prompt="go", order=chosen)
    meet = 'echo > "$0"; until [ -e "$1" ]; do sleep 0.05; done; echo met'
    both = await asyncio.gather(
        bench.do("sandbox.exec", path="one", argv=["sh", "-c", meet, "a", "b"]),
        bench.do("sandbox.exec", path="two", argv=["sh", "-c", meet, "b", "a"]),
    )
    assert [ran["stdout"] for ran in both] == ["met\n", "met\n"]
