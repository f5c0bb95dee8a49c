"""The form of requests and answers: headers, versions, sizes, conditional requests, limits."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import msgspec
import pytest

from github_simulator.outside import door_rules
from github_simulator.outside.limits import Rules

pytestmark = pytest.mark.slow


async def test_answers_carry_githubs_headers(cast: Any) -> None:
    answer = await cast.ask("GET", cast.path, cast.token())
    headers = answer.headers
    assert answer.status_code == 200
    assert headers["content-type"] == "application/json; charset=utf-8"
    assert headers["x-github-media-type"] == "github.v3; format=json"
    assert headers["x-ratelimit-limit"] == "5000"
    assert headers["x-ratelimit-remaining"] == "4999"
    assert headers["x-ratelimit-resource"] == "core"
    assert headers["etag"].startswith('W/"')
    assert "Authorization" in headers["vary"]
    other = await cast.ask("GET", cast.path, cast.token())
    assert other.headers["x-github-request-id"] != headers["x-github-request-id"]


async def test_head_is_get_without_the_body(cast: Any) -> None:
    token = cast.token()
    whole = await cast.ask("GET", cast.path, token)
    head = await cast.ask("HEAD", cast.path, token)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert head.headers["etag"] == whole.headers["etag"]


async def test_what_is_unknown_is_not_found(cast: Any) -> None:
    for method, path in (("GET", "/nothing"), ("DELETE", "/app"), ("GET", "/repos/no/no")):
        answer = await cast.ask(method, path, cast.token())
        assert answer.status_code == 404
        assert answer.json()["message"] == "Not Found"
        assert answer.json()["documentation_url"].startswith("https://docs.github.com/rest")


async def test_without_a_user_agent_nothing_is_answered(cast: Any) -> None:
    refused = await cast.ask("GET", "/users/ada", headers={"user-agent": ""})
    assert refused.status_code == 403
    assert "User-Agent" in refused.text
    assert refused.headers["content-type"].startswith("text/html")
    with door_rules.without("door_user_agent"):
        assert (await cast.ask("GET", "/users/ada", headers={"user-agent": ""})).is_success


@pytest.mark.parametrize(
    ("headers", "status", "rule"),
    [
        ({"x-github-api-version": "2021-01-01"}, 400, "door_api_version"),
        ({"x-github-api-version": ""}, 400, "door_api_version"),
        ({"accept": "text/html"}, 415, "door_accept"),
        ({"content-encoding": "br"}, 415, "door_encoding"),
    ],
)
async def test_a_form_that_github_does_not_take(
    cast: Any, headers: dict[str, str], status: int, rule: str
) -> None:
    token = cast.token()
    answer = await cast.ask("GET", cast.path, token, headers=headers)
    assert answer.status_code == status
    assert door_rules.RULES[rule].message in answer.json()["message"]
    with door_rules.without(rule):
        assert (await cast.ask("GET", cast.path, token, headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"x-github-api-version": "2022-11-28"},
        {"accept": "application/vnd.github+json"},
        {"accept": "text/html, application/json;q=0.5"},
    ],
)
async def test_a_form_that_github_takes(cast: Any, headers: dict[str, str]) -> None:
    assert (await cast.ask("GET", cast.path, cast.token(), headers=headers)).status_code == 200


async def test_json_must_be_json(cast: Any) -> None:
    path = f"{cast.path}/issues"
    for content in (b"{", b'{"title": }', b"\xff\xfe", b"title=x"):
        answer = await cast.ask("POST", path, cast.token(), content=content)
        assert (answer.status_code, answer.json()["message"]) == (400, "Problems parsing JSON")
    answer = await cast.ask("POST", path, cast.token(), content=b'"text"')
    assert answer.status_code == 400


async def test_a_body_has_a_limit(cast: Any) -> None:
    answer = await cast.ask(
        "POST", f"{cast.path}/issues", cast.token(), content=b" " * (40 * 1024 * 1024 + 1)
    )
    assert answer.status_code == 413


async def test_an_unknown_method_is_refused(cast: Any) -> None:
    assert (await cast.ask("OPTIONS", cast.path, cast.token())).status_code == 405


async def test_the_addresses_of_an_enterprise_server(cast: Any) -> None:
    plain = await cast.ask("GET", cast.path, cast.token())
    prefixed = await cast.ask("GET", f"/api/v3{cast.path}", cast.token())
    assert prefixed.json() == plain.json()
    answer = await cast.ask("POST", "/api/graphql", cast.token(), json={"query": "nonsense"})
    assert answer.status_code != 404


async def test_a_repository_can_be_named_by_its_id(cast: Any) -> None:
    answer = await cast.ask("GET", f"/repositories/{cast.repository.id}", cast.token())
    assert answer.json()["full_name"] == "ada/engine"
    assert cast.github.requests.all[-1].operation == "repos/get"


async def test_an_unchanged_answer_is_not_sent_and_not_counted(cast: Any) -> None:
    token = cast.token()
    first = await cast.ask("GET", cast.path, token)
    headers = {"if-none-match": first.headers["etag"]}
    again = await cast.ask("GET", cast.path, token, headers=headers)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert again.headers["x-ratelimit-remaining"] == "4999"
    cast.repository.description = "changed"
    changed = await cast.ask("GET", cast.path, token, headers=headers)
    assert changed.status_code == 200
    assert changed.headers["x-ratelimit-remaining"] == "4998"


async def test_another_credential_has_other_tags(cast: Any) -> None:
    first = await cast.ask("GET", "/users/ada", cast.token())
    person = cast.github.credentials.of_person(cast.reader).value
    headers = {"if-none-match": first.headers["etag"]}
    assert (await cast.ask("GET", "/users/ada", person, headers=headers)).status_code == 200


async def test_the_tokens_of_an_installation_share_a_budget(cast: Any) -> None:
    cast.clock.freeze()
    cast.github.limits.rules = Rules(primary_per_hour=3)
    for left in ("2", "1", "0"):
        answer = await cast.ask("GET", cast.path, cast.token())
        assert (answer.status_code, answer.headers["x-ratelimit-remaining"]) == (200, left)
    refused = await cast.ask("GET", cast.path, cast.token())
    assert refused.status_code == 403
    assert "API rate limit exceeded" in refused.json()["message"]
    assert refused.headers["x-ratelimit-remaining"] == "0"
    reset = int(refused.headers["x-ratelimit-reset"])
    assert reset * 1000 >= cast.clock.now_ms() + 3_599_000
    person = cast.github.credentials.of_person(cast.reader).value
    assert (await cast.ask("GET", cast.path, person)).status_code == 200
    free = (await cast.ask("GET", "/rate_limit", cast.token())).json()
    assert (free["resources"]["core"]["remaining"], free["rate"]["used"]) == (0, 3)
    cast.clock.advance(3_600)
    assert (await cast.ask("GET", cast.path, cast.token())).status_code == 200


async def test_what_is_sent_in_spite_of_a_limit_is_recorded(cast: Any) -> None:
    cast.clock.freeze()
    cast.github.limits.rules = Rules(primary_per_hour=1)
    token = cast.token()
    await cast.ask("GET", cast.path, token)
    assert cast.github.sent_while_limited == []
    await cast.ask("GET", cast.path, token)
    (rude,) = cast.github.sent_while_limited
    assert (rude.operation, rude.status, rude.actor) == ("repos/get", 403, "worker[bot]")
    cast.clock.advance(3_600)
    await cast.ask("GET", cast.path, token)
    assert len(cast.github.sent_while_limited) == 1


@pytest.mark.parametrize(("status", "told"), [(403, "60"), (429, "60"), (403, None)])
async def test_content_has_a_secondary_limit(cast: Any, status: int, told: str | None) -> None:
    cast.clock.freeze()
    cast.github.limits.rules = msgspec.structs.replace(
        Rules(),
        creates_per_minute=2,
        secondary_status=status,
        retry_after_s=None if told is None else 60,
    )
    token = cast.token()
    made = [
        await cast.ask("POST", f"{cast.path}/issues", token, json={"title": "x"}) for _ in range(3)
    ]
    assert [answer.status_code for answer in made] == [201, 201, status]
    assert made[2].headers.get("retry-after") == told
    assert "secondary rate limit" in made[2].json()["message"]
    assert len(cast.repository.issues) == 2
    assert (await cast.ask("GET", cast.path, token)).status_code == status
    assert len(cast.github.sent_while_limited) == 1


async def test_requests_at_once_have_a_limit(cast: Any) -> None:
    cast.github.limits.rules = msgspec.structs.replace(Rules(), concurrent=2)
    cast.github.api.latency_s = 1.0
    token = cast.token()
    answers = await asyncio.gather(*(cast.ask("GET", cast.path, token) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 403, 403]


async def test_every_request_is_recorded(cast: Any) -> None:
    await cast.ask("POST", f"{cast.path}/issues", cast.token(), json={"title": "x"})
    (asked,) = cast.github.requests.all
    assert (asked.method, asked.path) == ("POST", f"{cast.path}/issues")
    assert (asked.operation, asked.actor, asked.status) == ("issues/create", "worker[bot]", 201)
    assert cast.github.requests.counts() == {"issues/create": 1}


async def test_only_loopback_is_listened_at(cast: Any) -> None:
    assert cast.github.url.startswith("http://127.0.0.1:")
    port = int(cast.github.url.rpartition(":")[2])
    with socket.socket() as other:
        other.settimeout(5)
        try:
            address = socket.gethostbyname(socket.gethostname())
        except OSError:
            return
        if address.startswith("127."):
            return
        with pytest.raises(OSError, match="refused"):
            other.connect((address, port))
