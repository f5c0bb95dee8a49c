"""Another process directs the play and reads what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from github_simulator.outside import app_jwt
from github_simulator.server import GithubSimulator

pytestmark = pytest.mark.slow


async def post(http: httpx.AsyncClient, verb: str, expect: int = 200, **body: Any) -> Any:
    answer = await http.post(f"/_simulator/{verb}", json=body)
    assert answer.status_code == expect, answer.text
    return answer.json()


async def test_a_whole_play_from_outside(tmp_path: Path) -> None:
    async with (
        GithubSimulator(tmp_path) as github,
        httpx.AsyncClient(base_url=github.url, trust_env=False, timeout=30) as http,
    ):
        await post(http, "accounts", login="ada")
        await post(http, "accounts", login="grace")
        app = await post(
            http,
            "apps",
            slug="worker",
            owner="ada",
            permissions={"issues": "write", "contents": "write", "checks": "write"},
            events=["issues", "check_run"],
        )
        made = await post(
            http,
            "repositories",
            owner="ada",
            name="engine",
            private=True,
            files={"README.md": "# Engine\n"},
            roles={"grace": "write"},
        )
        installed = await post(
            http, "installations", app_id=app["id"], account="ada", repositories=["ada/engine"]
        )
        jwt = app_jwt.fresh(app["private_key"], app["id"], github.clock.now_ms())
        answer = await http.post(
            f"/app/installations/{installed['id']}/access_tokens",
            headers={"authorization": f"Bearer {jwt}"},
        )
        token = answer.json()["token"]
        opened = await post(
            http,
            "act",
            login="grace",
            method="POST",
            path="/repos/ada/engine/issues",
            body={"title": "It is broken", "labels": ["bug"]},
        )
        assert opened["status"] == 201
        check = await http.post(
            "/repos/ada/engine/check-runs",
            headers={"authorization": f"Bearer {token}"},
            json={
                "name": "work",
                "head_sha": github.world.git(github.world.repositories[made["id"]]).branch("main"),
                "external_id": "order-1",
            },
        )
        assert check.status_code == 201, check.text
        events: list[Any] = []
        github.world.listeners.append(events.append)
        await post(
            http, "rerun", login="grace", repository="ada/engine", check_run_id=check.json()["id"]
        )
        assert [(e.name, e.action) for e in events] == [("check_run", "rerequested")]
        pushed = await post(
            http,
            "commits",
            login="grace",
            repository="ada/engine",
            branch="topic",
            files={"a.txt": "a\n"},
            message="Add a",
        )
        records = (await http.get("/_simulator/records")).json()["ada/engine"]
        assert records["counts"] == {
            "issues": 1,
            "pull_requests": 0,
            "comments": 0,
            "reviews": 0,
            "review_comments": 0,
            "checks": 1,
            "statuses": 0,
            "reactions": 0,
            "merges": 0,
            "releases": 0,
            "dispatches": 0,
        }
        assert records["issues"][0]["login"] == "grace"
        assert records["checks"][0]["external_id"] == "order-1"
        assert records["branches"]["refs/heads/topic"] == pushed["sha"]


async def test_pull_requests_comments_and_reactions_are_counted(cast: Any) -> None:
    async def act(login: str, path: str, method: str = "POST", **body: Any) -> Any:
        done = await post(
            cast.http, "act", login=login, method=method, path=cast.path + path, body=body
        )
        assert done["status"] in (200, 201), done
        return done["body"]

    await post(
        cast.http,
        "commits",
        login="ada",
        repository="ada/engine",
        branch="topic",
        files={"a.txt": "a\n"},
        message="Add a",
    )
    pull = await act("ada", "/pulls", title="T", head="topic", base="main", body="B")
    comment = await act("ada", f"/issues/{pull['number']}/comments", body="hello")
    await act("ada", f"/issues/comments/{comment['id']}/reactions", content="eyes")
    await act("grace", f"/pulls/{pull['number']}/reviews", event="COMMENT", body="fine")
    await act("ada", f"/pulls/{pull['number']}/merge", "PUT")
    records = (await cast.http.get("/_simulator/records")).json()["ada/engine"]
    counts = records["counts"]
    assert {name: count for name, count in counts.items() if count} == {
        "pull_requests": 1,
        "comments": 1,
        "reviews": 1,
        "reactions": 1,
        "merges": 1,
    }
    assert records["pull_requests"][0]["title"] == "T"
    assert records["reactions"][0]["login"] == "ada"


async def test_faults_limits_clock_and_latency(cast: Any) -> None:
    await post(cast.http, "faults", kind="status", status=503)
    assert (await cast.ask("GET", cast.path, cast.token())).status_code == 503
    shown = (await cast.http.get("/_simulator/faults")).json()
    assert (shown["waiting"], len(shown["hits"])) == ([], 1)
    await post(cast.http, "limits", primary_per_hour=1)
    before = (await post(cast.http, "clock", frozen=True))["now_ms"]
    await cast.ask("GET", cast.path, cast.token())
    assert (await cast.ask("GET", cast.path, cast.token())).status_code == 403
    after = (await post(cast.http, "clock", advance_s=3_600))["now_ms"]
    assert after - before == 3_600_000
    assert (await cast.ask("GET", cast.path, cast.token())).status_code == 200
    asked = (await cast.http.get("/_simulator/requests")).json()
    assert asked["counts"] == {"repos/get": 4}
    assert len(asked["sent_while_limited"]) == 1
    assert (await post(cast.http, "latency", seconds=99.0))["seconds"] == 10.0


async def test_what_cannot_be_is_said(cast: Any) -> None:
    assert "grace" in (await cast.http.get("/_simulator/")).json()["accounts"]
    wrong = await post(cast.http, "accounts", 422, login="ada")
    assert "already" in wrong["message"]
    assert "unknown field" in (await post(cast.http, "accounts", 422, login="x", more=1))["message"]
    await post(cast.http, "faults", 422, kind="nonsense")
    await post(cast.http, "commits", 404, login="nobody", repository="a/b", branch="x",
               files={}, message="m")  # fmt: skip
    missing = await cast.http.post("/_simulator/nothing")
    assert missing.status_code == 404
    assert "POST /_simulator/act" in missing.json()["verbs"]
    assert (await cast.http.post("/_simulator/accounts", content=b"{")).status_code == 422
    await post(cast.http, "deliveries/release", 422, order=[5])


async def test_pages_of_a_browser_cannot_direct(cast: Any) -> None:
    for headers in ({"origin": "http://evil.test"}, {"host": "evil.test"}):
        answer = await cast.http.post(
            "/_simulator/accounts", json={"login": "eve"}, headers=headers
        )
        assert answer.status_code == 403
    assert cast.github.world.account("eve") is None


async def test_a_bundle_brings_a_history(cast: Any, git: Any) -> None:
    git("init", "-q", "-b", "main", "source")
    git("-C", "source", "commit", "-q", "--allow-empty", "-m", "One")
    git("-C", "source", "commit", "-q", "--allow-empty", "-m", "Two")
    git("-C", "source", "bundle", "create", "-q", "../history.bundle", "main")
    path = str(Path(git.folder) / "history.bundle")
    made = await post(cast.http, "repositories", owner="ada", name="old", bundle=path)
    repository = cast.github.world.repositories[made["id"]]
    assert len(cast.github.world.git(repository).log("main")) == 2


async def test_renames_transfers_and_installations(cast: Any) -> None:
    renamed = await post(
        cast.http, "repositories/change", login="ada", repository="ada/engine", change="rename",
        to="motor",
    )  # fmt: skip
    assert renamed["full_name"] == "ada/motor"
    moved = await cast.ask("GET", "/repos/ada/engine", cast.token())
    assert moved.status_code == 301
    number = cast.installation.id
    await post(
        cast.http, "installations/change", installation_id=number, by="ada", change="suspend"
    )
    assert (await cast.ask("GET", "/repos/ada/motor", cast.token())).status_code == 403
    await post(cast.http, "roles", repository="ada/motor", login="grace", role="write")
    token = (await post(cast.http, "tokens", login="grace"))["token"]
    seen = await cast.ask("GET", "/repos/ada/motor/collaborators/grace/permission", token)
    assert seen.json()["permission"] == "write"
