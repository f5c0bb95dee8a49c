"""Every tool says what it takes, gives, risks and how it is taken back, and keeps to it."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from bench import Bench

from agent_work_orders.github_integration.identity.app_manifest import PERMISSIONS
from agent_work_orders.tools.toolbox import CATALOGUE, NEEDS, describe
from github_simulator import routes

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tools.md"


def test_the_page_has_every_tool_and_every_field() -> None:
    page = PAGE.read_text()
    for name, info in CATALOGUE.items():
        part = page.split(f"## `{name}`\n")[1].split("\n## ")[0]
        assert info.summary in part and f"Risk {info.risk}" in part
        for field in (*info.inputs["properties"], *info.outputs["properties"]):
            assert f"| `{field}` |" in part


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_tool_takes_exactly_the_inputs_it_declares(bench: Bench, name: str) -> None:
    info, tool = CATALOGUE[name], bench.desk.tools[name]
    assert tool.info is info and name in describe(info)
    taken = {
        parameter.name: parameter
        for parameter in inspect.signature(tool.__call__).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert set(taken) == set(info.inputs["properties"])
    required = {n for n, p in taken.items() if p.default is inspect.Parameter.empty}
    assert required == set(info.inputs["required"])
    for field, schema in info.inputs["properties"].items():
        assert schema.get("description"), field
        if "default" in schema:
            assert taken[field].default == schema["default"]
    assert all(schema.get("description") for schema in info.outputs["properties"].values())


@pytest.mark.parametrize("name", [name for name, info in CATALOGUE.items() if info.undo])
def test_an_undo_can_be_called_with_the_outputs(name: str) -> None:
    info = CATALOGUE[name]
    assert info.undo is not None
    undo = CATALOGUE[info.undo]
    assert set(undo.inputs["required"]) <= set(info.outputs["properties"])


def test_what_an_app_needs_is_asked_for_or_said_by_the_tool() -> None:
    """Of all that the simulator's routes want, what every order needs is in the manifest, and the
    rest is some tool's own need."""
    wanted = {name for route in routes.ROUTES for name, level in route.needs if level == "write"}
    assert "actions" in wanted and "contents" in wanted
    of_tools = {name for needs in NEEDS.values() for name in needs}
    assert wanted - set(PERMISSIONS) == of_tools
    assert {name for name, needs in NEEDS.items() if needs} == {
        "github.dispatch", "github.protect", "github.settings",
    }  # fmt: skip
