"""What the self-check says of credentials that GitHub refuses, that lack something, or are well,
against the simulator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_work_orders.github_integration.account import Account, Need, Remark
from agent_work_orders.github_integration.connection import connect
from agent_work_orders.github_integration.identity.app_manifest import EVENTS, PERMISSIONS
from agent_work_orders.github_integration.quota_memory import NoMemory
from github_simulator.changes import founding
from github_simulator.outside import app_jwt
from github_simulator.server import GithubSimulator
from github_simulator.things.accounts import App, Installation
from github_simulator.things.simulated_clock import SimulatedClock


@cache
def key_pairs() -> tuple[tuple[str, str], tuple[str, str]]:
    return app_jwt.new_key_pair(), app_jwt.new_key_pair()


class Bench(msgspec.Struct, kw_only=True):
    """An App of an owner, all well with it until a test changes something."""

    github: GithubSimulator
    owner: Any
    app: App
    installation: Installation
    clock: SimulatedClock
    """This machine's."""

    async def remarks(self, *needs: Need, **changed: Any) -> dict[str, Remark]:
        (private, _), _ = key_pairs()
        account = Account(
            api_url=self.github.url,
            server_url=self.github.url,
            app_id=self.app.id,
            private_key=private,
            webhooks=True,
        )
        account = msgspec.structs.replace(account, **changed)
        connecting = connect(account, NoMemory(), self.clock, learn=lambda _: None)
        async with connecting as connection:
            found = await connection.check.examine(needs)
        assert len({one.about for one in found}) == len(found), found
        return {one.about: one for one in found}

    async def only(self, *needs: Need, **changed: Any) -> Remark:
        """The one thing that is not well, with its remedy."""
        every = (await self.remarks(*needs, **changed)).values()
        [found] = [one for one in every if one.status != "ok"]
        assert found.hint
        return found


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    (_, public), _ = key_pairs()
    async with GithubSimulator(tmp_path / "github") as github:
        owner = founding.add_account(github.world, "ada")
        app = founding.add_app(
            github.world,
            "worker",
            owner=owner,
            public_key=public,
            permissions=PERMISSIONS,
            events=EVENTS,
            webhook_url="https://awo.example/webhook/github",
            webhook_secret="words-of-a-secret",
        )
        yield Bench(
            github=github,
            owner=owner,
            app=app,
            installation=founding.install(github.world, app, owner),
            clock=SimulatedClock(),
        )


async def test_all_is_well(bench: Bench) -> None:
    found = await bench.remarks()
    assert {one.status for one in found.values()} == {"ok"}
    assert {about: one.detail for about, one in found.items()} == {
        "GitHub App": f"worker ({bench.app.id}): its key is accepted",
        "installation on ada": "on all repositories",
        "App's webhook": "to https://awo.example/webhook/github",
    }


async def test_a_client_id_is_as_good_as_a_number(bench: Bench) -> None:
    assert bench.app.client_id.startswith("Iv")
    assert await bench.remarks(app_id=bench.app.client_id) == await bench.remarks()


async def test_a_key_of_another_app_is_refused(bench: Bench) -> None:
    _, (another, _) = key_pairs()
    [found] = (await bench.remarks(private_key=another)).values()
    assert (found.about, found.status) == ("GitHub", "error")
    assert f"does not accept app:{bench.app.id}" in found.detail
    assert "GITHUB_PRIVATE_KEY" in found.hint


@pytest.mark.parametrize("wrong", [424242, "Iv23nobody"])
async def test_an_app_that_is_not_there_is_named(bench: Bench, wrong: int | str) -> None:
    [found] = (await bench.remarks(app_id=wrong)).values()
    assert (found.about, found.status) == ("GitHub", "error")
    assert f"app:{wrong}" in found.detail and "Integration not found" in found.detail
    assert "GITHUB_APP_ID" in found.hint


async def test_a_service_that_is_away_is_said(bench: Bench) -> None:
    await bench.github.close()
    [found] = (await bench.remarks()).values()
    assert (found.about, found.status) == ("GitHub", "error")
    assert found.detail and found.hint


async def test_installed_nowhere(bench: Bench) -> None:
    founding.uninstall(bench.github.world, bench.installation, bench.owner)
    found = await bench.only()
    assert (found.about, found.status) == ("installations", "error")
    assert "installed nowhere" in found.detail
    assert found.hint.endswith("/apps/worker/installations/new")


async def test_a_suspended_installation(bench: Bench) -> None:
    founding.suspend(bench.github.world, bench.installation, bench.owner)
    found = await bench.only()
    assert (found.about, found.status) == ("installation on ada", "error")
    assert found.detail == "it is suspended"
    assert f"/installations/{bench.installation.id}" in found.hint
    founding.unsuspend(bench.github.world, bench.installation, bench.owner)
    assert (await bench.remarks())["installation on ada"].status == "ok"


async def test_an_installation_is_told_apart_from_its_neighbour(bench: Bench) -> None:
    world = bench.github.world
    other = founding.install(world, bench.app, founding.add_account(world, "bob", "Organization"))
    founding.suspend(world, other, bench.owner)
    found = await bench.remarks()
    assert found["installation on ada"].status == "ok"
    assert found["installation on bob"].status == "error"


@pytest.mark.parametrize("granted", ["read", None])
async def test_what_the_app_may_not(bench: Bench, granted: str | None) -> None:
    for held in (bench.app.permissions, bench.installation.permissions):
        del held["contents"]
        held.update({} if granted is None else {"contents": granted})
    found = await bench.remarks()
    app, there = found["App's permissions"], found["installation on ada"]
    assert (app.status, there.status) == ("error", "error")
    assert app.detail == f"worker ({bench.app.id}) lacks contents: write"
    assert "/apps/worker" in app.hint and "accept" in app.hint
    assert there.detail == "it was not granted contents: write"


async def test_what_was_not_accepted_yet_for_the_installation(bench: Bench) -> None:
    bench.installation.permissions |= {"contents": "read", "checks": "read"}
    found = await bench.only()
    assert (found.about, found.status) == ("installation on ada", "error")
    assert found.detail == "it was not granted checks: write, contents: write"
    assert "Accept" in found.hint


async def test_more_than_is_needed_is_enough(bench: Bench) -> None:
    more = {"contents": "admin", "administration": "write"}
    bench.app.permissions |= more
    bench.installation.permissions |= more
    assert {one.status for one in (await bench.remarks()).values()} == {"ok"}


async def test_what_a_workflow_needs_beyond_that(bench: Bench) -> None:
    """Each permission is asked for where it is missing: of the App, else of the installation."""
    needs = [
        Need(permission="actions", level="write", of="github.dispatch in workflow release"),
        Need(permission="actions", level="write", of="github.dispatch in workflow nightly"),
        Need(permission="administration", level="write", of="github.protect in workflow guard"),
        Need(permission="contents", level="write", of="met already"),
    ]
    found = await bench.only(*needs)
    assert (found.about, found.status) == ("App's further permissions", "warning")
    assert found.detail == (
        f"worker ({bench.app.id}) lacks actions: write (for github.dispatch in workflow release; "
        "github.dispatch in workflow nightly), administration: write (for github.protect in "
        "workflow guard)"
    )
    assert "/apps/worker" in found.hint and "accept" in found.hint
    many = [Need(permission="actions", level="write", of=f"w{number}") for number in range(8)]
    assert (await bench.only(*many)).detail.endswith("(for w0; w1; w2; w3; w4; and 3 more)")
    granted = {"actions": "write", "administration": "write"}
    bench.app.permissions |= granted
    found = await bench.only(*needs)
    assert (found.about, found.status) == ("installation on ada", "warning")
    assert "not granted actions: write (for" in found.detail and "Accept" in found.hint
    bench.installation.permissions |= granted
    assert {one.status for one in (await bench.remarks(*needs)).values()} == {"ok"}


async def test_events_that_it_is_not_told_of(bench: Bench) -> None:
    bench.app.events = tuple(name for name in EVENTS if name not in ("issues", "push"))
    found = await bench.only()
    assert (found.about, found.status) == ("App's events", "warning")
    assert found.detail == f"worker ({bench.app.id}) is not told of issues, push"
    assert "/apps/worker" in found.hint
    assert "App's events" not in await bench.remarks(webhooks=False), "none are expected"


@pytest.mark.parametrize(
    ("ahead_s", "said"), [(300, "300 s ahead of"), (-900, "900 s behind"), (45, "45 s ahead of")]
)
async def test_a_clock_that_is_wrong(bench: Bench, ahead_s: int, said: str) -> None:
    """The proof is made by GitHub's clock then: nothing else is wrong."""
    now_ms = bench.github.clock.freeze()
    bench.clock = SimulatedClock(frozen_at_ms=now_ms + ahead_s * 1000)
    found = await bench.only()
    assert (found.about, found.status) == ("clock", "warning")
    assert said in found.detail and "NTP" in found.hint


@pytest.mark.parametrize("ahead_s", [25, -25])
async def test_a_clock_that_is_right_enough(bench: Bench, ahead_s: int) -> None:
    now_ms = bench.github.clock.freeze()
    bench.clock = SimulatedClock(frozen_at_ms=now_ms + ahead_s * 1000)
    assert "clock" not in await bench.remarks()


@pytest.mark.parametrize(
    ("lacks", "said"),
    [("webhook_url", "it has not an address"), ("webhook_secret", "it has not a secret")],
)
async def test_webhooks_that_are_not_configured(bench: Bench, lacks: str, said: str) -> None:
    setattr(bench.app, lacks, None)
    found = await bench.only()
    assert (found.about, found.status) == ("App's webhook", "error")
    assert found.detail.startswith(said) and "GITHUB_WEBHOOK_SECRET" in found.hint
    assert "App's webhook" not in await bench.remarks(webhooks=False), "none are expected"


async def test_a_token(bench: Bench) -> None:
    token = bench.github.credentials.of_person(bench.owner)
    as_person = {"app_id": "", "private_key": "", "token": token.value}
    assert await bench.remarks(**as_person) == {
        "GitHub token": Remark(about="GitHub token", status="ok", detail="ada: it is accepted")
    }
    token.scopes = ("gist", "read:org")
    found = await bench.only(**as_person)
    assert (found.about, found.status) == ("token's scopes", "error")
    assert "gist, read:org" in found.detail and "scope repo" in found.hint
    bench.github.credentials.revoke(f"Bearer {token.value}")
    [refused] = (await bench.remarks(**as_person)).values()
    assert (refused.about, refused.status) == ("GitHub", "error")
    assert "GITHUB_TOKEN" in refused.hint


async def test_a_fine_grained_token_has_no_scopes_to_look_at(bench: Bench) -> None:
    token = bench.github.credentials.of_person(bench.owner, permissions={"contents": "write"})
    [found] = (await bench.remarks(app_id="", token=token.value)).values()
    assert found.status == "ok"
