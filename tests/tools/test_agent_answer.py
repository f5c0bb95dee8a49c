"""An agent answers in the form that its task asks for, or the task has no answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench import ORDER, Bench, Crash
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.agent_executor.transcript import decode
from agent_work_orders.tools import agent_answer
from agent_work_orders.tools.agent_answer import NoAnswer

SCHEMA = {
    "type": "object",
    "properties": {
        "packages": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "risk": {"enum": ["low", "high"]},
    },
    "required": ["packages", "risk"],
    "additionalProperties": False,
}
GOOD = {"packages": ["till", "basket"], "risk": "low"}

# Says the next of its answers at each turn, and changes a file in the first.
PROGRAM = """
import os, sys
asked = sys.stdin.read()
at = int(open('.turn').read()) if os.path.exists('.turn') else 0
if at == 0: open('made.txt', 'w').write('made')
open('.turn', 'w').write(str(at + 1))
open('.asked', 'a').write(asked + '\\n====\\n')
print(ANSWERS[min(at, len(ANSWERS) - 1)])
"""


def saying(*answers: str) -> dict[str, Any]:
    program = f"ANSWERS = {answers!r}\n{PROGRAM}"
    return {"agent": {"name": "command", "argv": ["/usr/bin/python3", "-c", program]}}


def block(value: Any) -> str:
    return f"I looked.\n```json\n{json.dumps(value)}\n```"


async def test_the_answer_is_an_output(bench: Bench) -> None:
    order = saying(block(GOOD))
    outputs = await bench.do("agent.prompt", prompt="look", schema=SCHEMA, order=order)
    assert outputs["answer"] == GOOD
    assert outputs["changed"] and "made.txt" in await bench.files()
    asked = (bench.repo / ".asked").read_text()
    assert '"maxItems": 3' in asked and "write nothing after it" in asked


async def test_without_a_schema_there_is_none(bench: Bench) -> None:
    outputs = await bench.do("agent.prompt", prompt="look", order=saying(block(GOOD)))
    assert outputs["answer"] is None
    assert "JSON Schema" not in (bench.repo / ".asked").read_text()


async def test_what_is_wrong_is_told_and_mended(bench: Bench) -> None:
    order = saying("done", block({"packages": [7], "risk": "low"}), block(GOOD))
    outputs = await bench.do("agent.prompt", prompt="look", schema=SCHEMA, order=order)
    assert outputs["answer"] == GOOD
    first, second, third, _ = (bench.repo / ".asked").read_text().split("====")
    assert "could not be used" not in first
    assert "it is not JSON" in second
    assert "at packages[0]: expected text, found an integer" in third
    assert await bench.log() == ["feat: prompt: Do it"]


async def test_an_agent_that_never_answers_fails_and_commits_nothing(bench: Bench) -> None:
    order = saying(block({"packages": []}))
    failed = await bench.fail("agent.prompt", prompt="look", schema=SCHEMA, order=order)
    assert failed.failure.code == "agent_answer_invalid"
    assert "`risk` is missing" in failed.failure.message
    assert await bench.head() is None
    assert (bench.repo / ".turn").read_text() == str(agent_answer.MOST_REPAIRS + 1)


@pytest.mark.parametrize("at", [":commit"])
async def test_a_crash_after_the_commit_keeps_the_answer(bench: Bench, at: str) -> None:
    long = {"packages": ["x" * 9_000], "risk": "high"}
    order = saying(block(long))
    bench.restart(crash_at=at)
    with pytest.raises(Crash):
        await bench.do("agent.prompt", prompt="look", schema=SCHEMA, order=order)
    bench.restart()
    outputs = await bench.do("agent.prompt", prompt="look", schema=SCHEMA, order=order)
    assert outputs["answer"] == long
    assert (bench.repo / ".turn").read_text() == "1", "it was not asked a second time"
    assert len(await bench.log()) == 1


async def test_an_answer_that_is_gone_is_not_made_up(bench: Bench) -> None:
    order = saying(block(GOOD))
    bench.restart(crash_at=":commit")
    with pytest.raises(Crash):
        await bench.do("agent.prompt", prompt="look", schema=SCHEMA, order=order)
    bench.transcript.clear()
    bench.restart()
    failed = await bench.fail("agent.prompt", prompt="look", schema=SCHEMA, order=order)
    assert failed.failure.code == "agent_answer_lost"


async def test_a_schema_from_a_template_is_checked_too(bench: Bench) -> None:
    odd = {"type": "object", "patternProperties": {}}
    failed = await bench.fail("agent.prompt", prompt="look", schema=odd, order=saying("x"))
    assert failed.failure.code == "schema_invalid"
    assert "`patternProperties` of JSON Schema is not known" in failed.failure.message


async def test_a_command_answers_too(bench: Bench) -> None:
    outputs = await bench.do(
        "agent.command", command="plan", schema=SCHEMA, order=saying(block(GOOD))
    )
    assert outputs["answer"] == GOOD
    assert ORDER not in str(outputs["answer"])
    assert decode(b"".join(bench.transcript)).entries


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "there is none"),
        ("```json\n```", "there is none"),
        ("[" * 100_000, "not JSON"),
        (f"```json\n{'[' * 40}{']' * 40}\n```", "nested"),
        (block({**GOOD, "more": 1}), "`more` is not known"),
        (block({**GOOD, "packages": ["a"] * 4}), "at most 3"),
        (block({**GOOD, "risk": True}), "not one of low, high"),
        (block(GOOD) + "\n```json\n{}\n```", "missing"),
        ('{"packages": [NaN], "risk": "low"}', "not JSON"),
    ],
)
def test_what_is_no_answer(said: str, why: str) -> None:
    with pytest.raises(NoAnswer, match=why):
        agent_answer.read(said, SCHEMA)


@pytest.mark.parametrize("said", [json.dumps(GOOD), f"```\n{json.dumps(GOOD)}\n```", block(GOOD)])
def test_forms_in_which_agents_answer(said: str) -> None:
    assert agent_answer.read(said, SCHEMA) == GOOD


@given(st.text(max_size=300))
def test_any_text_is_an_answer_or_none(said: str) -> None:
    try:
        found = agent_answer.read(said, {"type": "integer"})
    except NoAnswer:
        return
    assert type(found) is int
