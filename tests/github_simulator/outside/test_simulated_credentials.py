"""Who may ask: every wrong credential is refused with GitHub's status and words."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest

from github_simulator.changes import founding
from github_simulator.outside import app_jwt, door_rules

pytestmark = pytest.mark.slow


async def mint(cast: Any, body: Any = None, installation: Any = None) -> httpx.Response:
    number = (installation or cast.installation).id
    path = f"/app/installations/{number}/access_tokens"
    return await cast.ask("POST", path, cast.jwt(), json=body or {})


async def test_an_app_asks_about_itself(cast: Any) -> None:
    answer = await cast.ask("GET", "/app", cast.jwt())
    assert answer.status_code == 200
    assert answer.json()["slug"] == "worker"
    assert answer.json()["installations_count"] == 1
    by_client_id = app_jwt.fresh(cast.private_key, cast.app.client_id, cast.clock.now_ms())
    assert (await cast.ask("GET", "/app", by_client_id)).json()["id"] == cast.app.id


async def test_an_app_finds_its_installations(cast: Any) -> None:
    listed = (await cast.ask("GET", "/app/installations", cast.jwt())).json()
    assert [one["id"] for one in listed] == [cast.installation.id]
    for path in (
        f"/app/installations/{cast.installation.id}",
        f"{cast.path}/installation",
        "/users/ada/installation",
    ):
        found = await cast.ask("GET", path, cast.jwt())
        assert (found.status_code, found.json().get("id")) == (200, cast.installation.id), path
    for path in ("/app/installations/99", "/users/grace/installation", "/orgs/none/installation"):
        assert (await cast.ask("GET", path, cast.jwt())).status_code == 404


async def test_a_wrong_jwt_is_told_why(cast: Any) -> None:
    now = cast.clock.now_ms() // 1000
    late = app_jwt.sign(cast.private_key, {"iat": now, "exp": now + 700, "iss": str(cast.app.id)})
    answer = await cast.ask("GET", "/app", late)
    assert (answer.status_code, answer.json()["message"]) == (401, app_jwt.FAR_EXP)
    unknown = app_jwt.fresh(cast.private_key, 5, cast.clock.now_ms())
    answer = await cast.ask("GET", "/app", unknown)
    assert (answer.status_code, answer.json()["message"]) == (404, "Integration not found")
    with_token = {"authorization": f"token {cast.jwt()}"}
    answer = await cast.ask("GET", "/app", headers=with_token)
    assert (answer.status_code, answer.json()["message"]) == (401, app_jwt.NOT_DECODED)
    with door_rules.without("door_jwt_scheme"):
        assert (await cast.ask("GET", "/app", headers=with_token)).status_code == 200


async def test_a_jwt_expires_by_the_simulators_clock(cast: Any) -> None:
    token = cast.jwt()
    cast.clock.freeze()
    cast.clock.advance(541)
    answer = await cast.ask("GET", "/app", token)
    assert (answer.status_code, answer.json()["message"]) == (401, app_jwt.BAD_EXP)


async def test_app_and_installation_tokens_are_not_interchangeable(cast: Any) -> None:
    assert (await cast.ask("GET", cast.path, cast.jwt())).status_code in (401, 403, 404)
    assert (await cast.ask("GET", "/app", cast.token())).status_code == 401
    assert (await cast.ask("GET", "/app")).status_code == 401


async def test_an_installation_token_works_for_an_hour(cast: Any) -> None:
    cast.clock.freeze()
    answer = await mint(cast)
    assert answer.status_code == 201
    made = answer.json()
    assert made["token"].startswith("ghs_")
    assert made["permissions"]["contents"] == "write"
    assert made["repository_selection"] == "selected"
    assert (await cast.ask("GET", cast.path, made["token"])).status_code == 200
    cast.clock.advance(3_599)
    assert (await cast.ask("GET", cast.path, made["token"])).status_code == 200
    cast.clock.advance(1)
    answer = await cast.ask("GET", cast.path, made["token"])
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")
    with door_rules.without("door_expired"):
        assert (await cast.ask("GET", cast.path, made["token"])).status_code == 200


async def test_a_token_can_be_revoked(cast: Any) -> None:
    token = cast.token()
    assert (await cast.ask("DELETE", "/installation/token", token)).status_code == 204
    assert (await cast.ask("GET", cast.path, token)).status_code == 401
    assert (await cast.ask("GET", cast.path, cast.token())).status_code == 200
    with door_rules.without("door_revoked"):
        assert (await cast.ask("GET", cast.path, token)).status_code == 200


async def test_a_narrowed_token_does_only_that(cast: Any) -> None:
    other = founding.add_repository(cast.github.world, cast.owner, "other", private=True)
    founding.select_repositories(
        cast.github.world, cast.installation, [cast.repository, other], cast.owner
    )
    made = (
        await mint(cast, {"repositories": ["engine"], "permissions": {"issues": "read"}})
    ).json()
    assert [one["name"] for one in made["repositories"]] == ["engine"]
    assert made["permissions"] == {"issues": "read", "metadata": "read"}
    token = made["token"]
    assert (await cast.ask("GET", f"{cast.path}/issues", token)).status_code == 200
    assert (await cast.ask("GET", "/repos/ada/other", token)).status_code == 404
    refused = await cast.ask("POST", f"{cast.path}/issues", token, json={"title": "x"})
    assert refused.status_code == 403
    assert refused.json()["message"] == "Resource not accessible by integration"
    by_id = (await mint(cast, {"repository_ids": [other.id]})).json()
    assert (await cast.ask("GET", "/repos/ada/other", by_id["token"])).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "rule"),
    [
        ({"permissions": {"administration": "write"}}, 422, "token_not_granted"),
        ({"permissions": {"metadata": "write"}}, 422, "token_not_granted"),
        ({"permissions": {"issues": "owner"}}, 422, "token_not_granted"),
        ({"repositories": ["nothing"]}, 422, "token_not_its_repository"),
        ({"repository_ids": [5]}, 422, "token_not_its_repository"),
        ({"repositories": []}, 422, "token_empty_selection"),
        ({"repository_ids": list(range(501))}, 422, "token_too_many_repositories"),
    ],
)
async def test_a_token_is_never_wider_than_its_installation(
    cast: Any, body: Any, status: int, rule: str
) -> None:
    answer = await mint(cast, body)
    assert answer.status_code == status
    assert answer.json()["message"] == door_rules.RULES[rule].message
    assert cast.github.credentials.tokens == []


async def test_a_suspended_installation_gets_no_token(cast: Any) -> None:
    token = cast.token()
    founding.suspend(cast.github.world, cast.installation, cast.owner)
    answer = await mint(cast)
    assert (answer.status_code, answer.json()["message"]) == (
        403,
        "This installation has been suspended",
    )
    assert (await cast.ask("GET", cast.path, token)).status_code == 403
    founding.unsuspend(cast.github.world, cast.installation, cast.owner)
    assert (await mint(cast)).status_code == 201
    assert (await cast.ask("GET", cast.path, token)).status_code == 200


async def test_an_uninstalled_app_loses_its_tokens(cast: Any) -> None:
    token = cast.token()
    founding.uninstall(cast.github.world, cast.installation, cast.owner)
    assert (await mint(cast)).status_code == 404
    assert (await cast.ask("GET", cast.path, token)).status_code == 401


async def test_another_app_cannot_take_the_token(cast: Any) -> None:
    private, public = app_jwt.new_key_pair()
    other = founding.add_app(
        cast.github.world, "stranger", owner=cast.reader, public_key=public, permissions={}
    )
    token = app_jwt.fresh(private, other.id, cast.clock.now_ms())
    path = f"/app/installations/{cast.installation.id}/access_tokens"
    assert (await cast.ask("POST", path, token)).status_code == 404


async def test_a_permission_taken_back_is_gone_from_old_tokens(cast: Any) -> None:
    token = cast.token()
    asked = {"json": {"title": "x"}}
    assert (await cast.ask("POST", f"{cast.path}/issues", token, **asked)).status_code == 201
    cast.installation.permissions["issues"] = "read"
    assert (await cast.ask("POST", f"{cast.path}/issues", token, **asked)).status_code == 403
    assert (await cast.ask("GET", f"{cast.path}/issues", token)).status_code == 200


async def test_people_have_tokens_too(cast: Any) -> None:
    classic = cast.github.credentials.of_person(cast.owner).value
    assert classic.startswith("ghp_")
    for scheme in ("Bearer", "token", "bearer"):
        headers = {"authorization": f"{scheme} {classic}"}
        assert (await cast.ask("GET", "/user", headers=headers)).json()["login"] == "ada"
    basic = base64.b64encode(f"ada:{classic}".encode()).decode()
    answer = await cast.ask("GET", "/user", headers={"authorization": f"Basic {basic}"})
    assert answer.json()["login"] == "ada"
    reading = cast.github.credentials.of_person(cast.reader).value
    assert (await cast.ask("GET", cast.path, reading)).status_code == 200
    narrow = cast.github.credentials.of_person(cast.owner, permissions={"issues": "read"}).value
    assert narrow.startswith("github_pat_")
    assert (await cast.ask("GET", f"{cast.path}/issues", narrow)).status_code == 200
    refused = await cast.ask("POST", f"{cast.path}/issues", narrow, json={"title": "x"})
    assert refused.status_code == 403


async def test_a_classic_token_is_told_its_scopes_and_others_have_none(cast: Any) -> None:
    credentials, title = cast.github.credentials, {"json": {"title": "x"}}
    for scopes, told, status in (
        (("repo",), "repo", 201),
        (("gist", "read:org"), "gist, read:org", 403),
    ):
        token = credentials.of_person(cast.owner, scopes=scopes).value
        assert (await cast.ask("GET", "/user", token)).headers["x-oauth-scopes"] == told
        assert (await cast.ask("POST", f"{cast.path}/issues", token, **title)).status_code == status
    fine = credentials.of_person(cast.owner, permissions={"issues": "read"}).value
    for token in (fine, cast.token()):
        answer = await cast.ask("GET", f"{cast.path}/issues", token)
        assert answer.status_code == 200 and "x-oauth-scopes" not in answer.headers


@pytest.mark.parametrize("value", ["Bearer ghs_wrong", "Bearer", "Basic !!!", "Digest x", ""])
async def test_a_wrong_credential_is_refused_everywhere(cast: Any, value: str) -> None:
    for path in ("/users/ada", "/rate_limit", cast.path):
        answer = await cast.ask("GET", path, headers={"authorization": value})
        assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials"), path


async def test_without_a_credential_only_the_public_is_seen(cast: Any) -> None:
    assert (await cast.ask("GET", "/users/ada")).status_code == 200
    assert (await cast.ask("GET", cast.path)).status_code == 404
    cast.repository.private = False
    assert (await cast.ask("GET", cast.path)).status_code == 200
    refused = await cast.ask("POST", f"{cast.path}/issues", json={"title": "x"})
    assert refused.status_code == 401
