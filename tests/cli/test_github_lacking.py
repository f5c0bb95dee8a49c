"""What GitHub lacks for us is said where people look: in the log of a server's start, by `awo
doctor` and by `awo github check`; also what only the operator's own workflows need."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_work_orders import settings as setting
from agent_work_orders.bootstrap import github, open_house
from agent_work_orders.cli import checkup
from agent_work_orders.clock import SystemClock
from agent_work_orders.github_integration.account import Remark
from agent_work_orders.github_integration.identity.app_manifest import EVENTS, PERMISSIONS
from agent_work_orders.settings import Settings
from github_simulator.changes import founding
from github_simulator.outside import app_jwt
from github_simulator.server import GithubSimulator
from github_simulator.things.accounts import App, Installation

DEPLOY = """
name: deploy
tasks:
  go: {uses: github.dispatch, with: {workflow: deploy.yml, ref: main}}
"""
# The tool that asks for more stands in a loop of a child.
NESTED = """
name: nested
tasks:
  child: {workflow: guarded}
"""
GUARDED = """
name: guarded
tasks:
  twice:
    repeat:
      max: 2
      until: "true"
      tasks: {guard: {uses: github.protect, with: {branch: main, rules: {}}}}
"""
RULES = "github: {labels: {ship: deploy, awo: agent_workflow_build}, commands: {run: deploy}}"


class Bench(msgspec.Struct, kw_only=True):
    app: App
    installation: Installation
    settings: Settings
    env: dict[str, str]
    home: Path

    async def checked(self) -> dict[str, Remark]:
        """By `awo github check`, what is not well."""
        found = await github.check(self.settings, SystemClock())
        return {one.about: one for one in found if one.status != "ok"}

    def workflow(self, name: str, text: str) -> None:
        folder = self.home / "workflows"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.yaml").write_text(text)

    def ruled(self, text: str) -> None:
        file = self.home.with_name("rules.yaml")
        file.write_text(text)
        self.settings = setting.load({**self.env, "AWO_GITHUB_RULES": str(file)}, home=self.home)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    private, public = app_jwt.new_key_pair()
    async with GithubSimulator(tmp_path / "github") as service:
        owner = founding.add_account(service.world, "ada")
        app = founding.add_app(
            service.world,
            "worker",
            owner=owner,
            public_key=public,
            permissions=PERMISSIONS,
            events=EVENTS,
        )
        env = {
            "GITHUB_API_URL": service.url,
            "GITHUB_SERVER_URL": service.url,
            "GITHUB_APP_ID": app.client_id,
            "GITHUB_PRIVATE_KEY": private,
        }
        yield Bench(
            app=app,
            installation=founding.install(service.world, app, owner),
            settings=setting.load(env, home=tmp_path / "home"),
            env=env,
            home=tmp_path / "home",
        )


async def test_a_server_says_it_in_its_log_at_the_start(bench: Bench) -> None:
    said: list[tuple[str, str, dict[str, Any]]] = []

    def heard(_order: str, event: str, level: str, fields: Mapping[str, Any]) -> None:
        said.append((event, level, dict(fields)))

    async def started() -> list[tuple[str, str, dict[str, Any]]]:
        said.clear()
        async with open_house(bench.settings) as house:
            context = msgspec.structs.replace(house.context, log=heard)
            tasks = msgspec.structs.replace(house.duties, context=context).while_serving()
            # The check is the one that ends by itself.
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            assert not [one for one in tasks if one.done() and one.exception() is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return [one for one in said if one[0] == "github_lacking"]

    assert await started() == []
    bench.installation.permissions["contents"] = "read"
    bench.workflow("deploy", DEPLOY)
    further, granted = await started()
    assert granted[1] == "error"
    assert granted[2]["about"] == "installation on ada"
    assert granted[2]["error"] == "it was not granted contents: write"
    assert "Accept" in granted[2]["hint"]
    assert further[1] == "warning"
    assert "actions: write (for github.dispatch in workflow deploy)" in further[2]["error"]


async def test_the_doctor_shows_it(bench: Bench) -> None:
    async def shown() -> dict[str, tuple[str, str, str]]:
        found = [one async for one in checkup._github(bench.settings)]
        return {one.check: (one.status, one.detail, one.hint) for one in found}

    well = await shown()
    assert set(well) == {"GitHub App", "installation on ada"}
    assert {status for status, *_ in well.values()} == {"ok"}
    bench.app.permissions["issues"] = "read"
    status, detail, hint = (await shown())["App's permissions"]
    assert status == "error" and detail.endswith("lacks issues: write") and "/apps/worker" in hint


async def test_workflows_are_looked_at_with_the_rules_that_start_them(bench: Bench) -> None:
    assert await bench.checked() == {}
    bench.ruled(RULES)
    assert await bench.checked() == {}, "what a rule names is not there, and asks for nothing"
    bench.workflow("deploy", DEPLOY)
    bench.workflow("broken", "name: broken")
    bench.workflow("nested", NESTED)
    bench.workflow("guarded", GUARDED)
    found = (await bench.checked())["App's further permissions"]
    assert found.status == "warning"
    for_dispatch, for_protection = found.detail.split("), administration: write (for ")
    assert for_dispatch.endswith(
        "actions: write (for github.dispatch in workflow deploy, started by label ship and /awo run"
    )
    assert "github.protect in workflow nested" in for_protection
    assert "github.protect in workflow guarded" in for_protection
    more = {"actions": "write", "administration": "write"}
    bench.app.permissions |= more
    bench.installation.permissions |= more
    assert await bench.checked() == {}


async def test_rules_that_cannot_be_read_are_said(bench: Bench) -> None:
    bench.ruled("github: {labels: [ship]}")
    found = await bench.checked()
    assert found["AWO_GITHUB_RULES"].status == "error"
    assert "rules.yaml" in found["AWO_GITHUB_RULES"].detail
