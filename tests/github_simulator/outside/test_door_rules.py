"""Every rule at the door is needed: with it a request is refused, without it the same is not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from github_simulator.changes import founding
from github_simulator.outside import app_jwt, door_rules

pytestmark = pytest.mark.slow

Case = Callable[[Any], Awaitable[httpx.Response]]


async def no_user_agent(cast: Any) -> httpx.Response:
    return await cast.ask("GET", "/users/ada", headers={"user-agent": ""})


async def old_version(cast: Any) -> httpx.Response:
    return await cast.ask("GET", "/users/ada", headers={"x-github-api-version": "2019-01-01"})


async def only_pictures(cast: Any) -> httpx.Response:
    return await cast.ask("GET", "/users/ada", headers={"accept": "image/png"})


async def a_long_body(cast: Any) -> httpx.Response:
    content = b" " * (40 * 1024 * 1024 + 1)
    return await cast.ask("GET", "/users/ada", content=content)


async def a_strange_method(cast: Any) -> httpx.Response:
    return await cast.ask("TRACE", "/users/ada")


async def packed(cast: Any) -> httpx.Response:
    return await cast.ask("GET", "/users/ada", headers={"content-encoding": "gzip"})


async def wrong_token(cast: Any) -> httpx.Response:
    return await cast.ask("GET", "/users/ada", "ghs_wrong")


async def wrong_jwt(cast: Any) -> httpx.Response:
    return await cast.ask("GET", "/users/ada", "ey.ey.ey")


async def jwt_of_nobody(cast: Any) -> httpx.Response:
    token = app_jwt.fresh(cast.private_key, 5, cast.clock.now_ms())
    return await cast.ask("GET", "/users/ada", token)


async def jwt_as_token(cast: Any) -> httpx.Response:
    return await cast.ask("GET", "/app", headers={"authorization": f"token {cast.jwt()}"})


async def expired(cast: Any) -> httpx.Response:
    token = cast.token()
    cast.clock.advance(3_601)
    return await cast.ask("GET", cast.path, token)


async def revoked(cast: Any) -> httpx.Response:
    token = cast.token()
    await cast.ask("DELETE", "/installation/token", token)
    return await cast.ask("GET", cast.path, token)


async def uninstalled(cast: Any) -> httpx.Response:
    token = cast.token()
    if cast.installation.id in cast.github.world.installations:
        founding.uninstall(cast.github.world, cast.installation, cast.owner)
    return await cast.ask("GET", "/users/ada", token)


async def mint(cast: Any, **body: Any) -> httpx.Response:
    path = f"/app/installations/{cast.installation.id}/access_tokens"
    return await cast.ask("POST", path, cast.jwt(), json=body)


async def suspended(cast: Any) -> httpx.Response:
    founding.suspend(cast.github.world, cast.installation, cast.owner)
    return await mint(cast)


async def too_much(cast: Any) -> httpx.Response:
    return await mint(cast, permissions={"administration": "write"})


async def too_far(cast: Any) -> httpx.Response:
    return await mint(cast, repositories=["nowhere"])


async def too_many(cast: Any) -> httpx.Response:
    return await mint(cast, repository_ids=[cast.repository.id] * 501)


async def none_at_all(cast: Any) -> httpx.Response:
    return await mint(cast, repositories=[])


async def long_past(cast: Any) -> httpx.Response:
    cast.app.webhook_url = "http://192.0.2.1/hook"
    token = cast.github.credentials.of_person(cast.owner).value
    await cast.ask("POST", f"{cast.path}/issues", token, json={"title": "T"})
    await cast.github.deliveries.settled()
    number = cast.github.deliveries.kept[-1].id
    cast.clock.advance(3 * 86_400 + 1)
    return await cast.ask("POST", f"/app/hook/deliveries/{number}/attempts", cast.jwt())


CASES: dict[str, Case] = {
    "door_user_agent": no_user_agent,
    "door_api_version": old_version,
    "door_accept": only_pictures,
    "door_too_large": a_long_body,
    "door_method": a_strange_method,
    "door_encoding": packed,
    "door_bad_credentials": wrong_token,
    "door_jwt": wrong_jwt,
    "door_no_such_app": jwt_of_nobody,
    "door_jwt_scheme": jwt_as_token,
    "door_expired": expired,
    "door_revoked": revoked,
    "door_uninstalled": uninstalled,
    "old_delivery": long_past,
    "token_suspended": suspended,
    "token_not_granted": too_much,
    "token_not_its_repository": too_far,
    "token_too_many_repositories": too_many,
    "token_empty_selection": none_at_all,
}
# Without them there is nothing that could be answered; other tests see their 404.
NOTHING_LEFT = {"token_not_installed", "no_delivery", "no_such_code"}


def test_every_rule_has_a_case_and_cites_its_source() -> None:
    assert set(CASES) | NOTHING_LEFT == set(door_rules.RULES)
    assert all(rule.cites for rule in door_rules.RULES.values())


@pytest.mark.parametrize("rule_id", sorted(CASES))
async def test_a_rule_that_is_taken_away_refuses_no_more(cast: Any, rule_id: str) -> None:
    rule = door_rules.RULES[rule_id]
    refused = await CASES[rule_id](cast)
    assert refused.status_code == rule.status
    assert rule.message.split("%")[0][:40] in refused.text
    with door_rules.without(rule_id):
        allowed = await CASES[rule_id](cast)
    assert (allowed.status_code, allowed.text[:40]) != (refused.status_code, refused.text[:40])
