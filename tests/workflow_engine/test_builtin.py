from __future__ import annotations

import jsonschema
import pytest

from agent_work_orders.tools.toolbox import CATALOGUE
from agent_work_orders.workflow_engine import builtin, yaml_source
from agent_work_orders.workflow_engine.catalogue import Catalogue
from agent_work_orders.workflow_engine.compiler import compile_workflow
from agent_work_orders.workflow_engine.condition import evaluate
from agent_work_orders.workflow_engine.declared_inputs import INPUT_KEYS
from agent_work_orders.workflow_engine.definition import (
    APPROVAL_KEYS,
    DEFAULT_KEYS,
    REPEAT_KEYS,
    RETRY_KEYS,
    TASK_KEYS,
    UNDO_KEYS,
    WORKFLOW_KEYS,
    Definition,
)
from agent_work_orders.workflow_engine.inputs import accept
from agent_work_orders.workflow_engine.schema import workflow_schema

NAMES = [
    "agent_workflow_build",
    "agent_workflow_plan",
    "agent_workflow_plan_build",
    "agent_workflow_plan_build_test",
    "agent_workflow_test",
    "pr-review",
    "test-pipeline",
]
PUBLISHING = [name for name in NAMES if name != "pr-review"]


def test_the_built_in_workflows() -> None:
    assert sorted(builtin.definitions()) == NAMES
    for alias, name in {
        "agent_workflow_implement": "agent_workflow_build",
        "agent_workflow_validate": "agent_workflow_test",
    }.items():
        found = builtin.find(alias)
        assert found is not None and found.name == name
    assert builtin.find("nothing") is None


@pytest.mark.parametrize("name", PUBLISHING)
def test_each_compiles_and_needs_no_inputs(name: str, catalogue: Catalogue) -> None:
    plan = compile_workflow(builtin.definitions()[name], catalogue, children=builtin.find)
    assert accept(plan.inputs, {}) is not None
    assert plan.description
    assert plan.body.tasks["publish"].uses == "forge.open_pull_request"


@pytest.mark.parametrize("name", NAMES)
def test_each_compiles_with_the_shipped_tools(name: str) -> None:
    plan = compile_workflow(builtin.definitions()[name], CATALOGUE, children=builtin.find)
    assert accept(plan.inputs, {}) is not None


@pytest.mark.parametrize("name", NAMES)
def test_each_fits_the_schema_for_editors(name: str) -> None:
    schema = workflow_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    definition: Definition = builtin.definitions()[name]
    loaded = yaml_source.load(definition.text, definition.file)
    jsonschema.Draft202012Validator(schema).validate(loaded)


def test_the_schema_for_editors_knows_exactly_the_keys_of_the_reader() -> None:
    schema = workflow_schema()
    task = schema["$defs"]["task"]["properties"]
    assert set(schema["properties"]) == WORKFLOW_KEYS
    assert set(schema["properties"]["defaults"]["properties"]) == DEFAULT_KEYS
    assert set(task) == TASK_KEYS
    assert set(task["repeat"]["properties"]) == REPEAT_KEYS
    assert set(task["undo"]["properties"]) == UNDO_KEYS
    assert set(task["approval"]["anyOf"][1]["properties"]) == APPROVAL_KEYS
    assert set(schema["$defs"]["retry"]["properties"]) == RETRY_KEYS
    assert set(schema["$defs"]["input"]["properties"]) == INPUT_KEYS


@pytest.mark.parametrize(
    "text",
    [
        "{name: a, tasks: {t: {nedes: [b], uses: x}}}",
        "{name: a, tasks: {t: {needs: [b]}}}",
        "{name: a, tasks: {}}",
        "{name: A B, tasks: {t: {uses: x}}}",
        "{name: a, tasks: {t: {uses: x, timeout: 30}}}",
        "{name: a, tasks: {t: {repeat: {tasks: {b: {uses: x}}}}}}",
    ],
)
def test_the_schema_for_editors_finds_mistakes(text: str) -> None:
    validator = jsonschema.Draft202012Validator(workflow_schema())
    assert list(validator.iter_errors(yaml_source.load(text, "x")))


@pytest.mark.fault("N3")
@pytest.mark.parametrize(
    ("at_base", "at_head", "enough"),
    [
        ("passed", "passed", True),
        ("failed", "passed", True),
        ("unverified", "passed", True),
        ("passed", "failed", False),
        ("passed", "unverified", False),
        ("failed", "unverified", False),
        ("unverified", "unverified", True),
        ("unverified", "failed", False),
    ],
)
def test_when_the_loop_of_plan_build_test_ends(
    at_base: str, at_head: str, enough: bool, catalogue: Catalogue
) -> None:
    plan = compile_workflow(builtin.definitions()["agent_workflow_plan_build_test"], catalogue)
    until = plan.body.tasks["implement"].until
    assert until is not None
    tasks = {
        name: {"outputs": {"passed": verdict == "passed", "found": True, "verdict": verdict}}
        for name, verdict in (("baseline", at_base), ("check", at_head))
    }
    assert evaluate(until, {"tasks": tasks}) is enough
