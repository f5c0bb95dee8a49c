"""Requests that nobody should send: sizes, shapes, origins, addresses, crashes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.api import body as bodies
from agent_work_orders.api.app import create_app
from agent_work_orders.api.pace import TooSlow
from agent_work_orders.bootstrap import House, open_house
from agent_work_orders.errors import Environmental, Permanent, Transient
from agent_work_orders.settings import changed

ORDERS = "/api/agent-work-orders"


def problem(answer: Any, status: int, code: str | None = None) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert {"type", "title", "status", "detail", "code", "instance", "request_id"} <= found.keys()
    assert found["status"] == status
    assert found["request_id"] == answer.headers["x-request-id"]
    if code is not None:
        assert found["code"] == code, found
    return found


@pytest.mark.fault("K3")
@pytest.mark.parametrize(
    "field",
    ["status", "created_by", "owner", "cost_usd", "engine", "agent_work_order_id", "run_seq"],
)
async def test_nothing_else_can_be_set(client: Any, order_body: Any, field: str) -> None:
    found = problem(await client.post(ORDERS, json=order_body(**{field: "x"})), 422)
    assert found["field"] == field
    assert "Remove" in found["hint"]
    assert (await client.get(ORDERS)).json()["total_count"] == 0


@pytest.mark.fault("K4")
@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://127.0.0.1.evil.example"])
async def test_foreign_origins_are_refused(client: Any, order_body: Any, origin: str) -> None:
    headers = {"Origin": origin}
    for method, path in (
        ("GET", ORDERS),
        ("POST", ORDERS),
        ("GET", "/api/events"),
        ("OPTIONS", ORDERS),
    ):
        answer = await client.request(
            method, path, headers=headers, json=order_body() if method == "POST" else None
        )
        problem(answer, 403, "origin_refused")
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.fault("K4")
async def test_our_own_origin_is_accepted(client: Any) -> None:
    assert (await client.get(ORDERS, headers={"Origin": "http://127.0.0.1"})).status_code == 200


@pytest.mark.fault("K4")
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "192.168.0.9:8420"])
async def test_foreign_hosts_are_refused(client: Any, host: str) -> None:
    problem(await client.get(ORDERS, headers={"Host": host}), 403, "host_refused")
    assert (await client.get("/healthz", headers={"Host": host})).status_code == 403


@pytest.mark.parametrize("host", ["localhost:8420", "127.0.0.1:1", "[::1]:8420", "LOCALHOST"])
async def test_names_of_this_machine_are_accepted(client: Any, host: str) -> None:
    assert (await client.get(ORDERS, headers={"Host": host})).status_code == 200


async def test_allowed_names_and_origins(settings: Any, made_client: Any) -> None:
    open_settings = changed(
        settings,
        {
            "server.allowed_hosts": ("awo.example",),
            "server.allowed_origins": ("https://ui.example",),
        },
    )
    async with (
        open_house(open_settings) as house,
        made_client(create_app(house), house.local_key) as client,
    ):
        headers = {"Host": "awo.example:443", "Origin": "https://ui.example"}
        assert (await client.get(ORDERS, headers=headers)).status_code == 200
        headers["Origin"] = "https://ui.example.evil"
        assert (await client.get(ORDERS, headers=headers)).status_code == 403


@pytest.mark.fault("K4")
@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""],
)
async def test_a_form_cannot_post(client: Any, kind: str) -> None:
    answer = await client.post(ORDERS, content=b'{"a": 1}', headers={"Content-Type": kind})
    problem(answer, 415, "media_type_unsupported")


@pytest.mark.fault("K6")
@pytest.mark.parametrize(
    "path",
    [
        f"{ORDERS}/..%2f..%2fetc%2fpasswd",
        f"{ORDERS}/%2e%2e/%2e%2e",
        f"{ORDERS}/wo-aaaa%00",
        f"{ORDERS}/{'a' * 65}",
        f"{ORDERS}/%2A",
        f"{ORDERS}/wo-%25",
        "/api/workflows/..%2f..%2fpyproject",
        "/api/approvals/..%2f..%2fx",
    ],
)
async def test_addresses_lead_nowhere_else(client: Any, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code in (400, 404, 422), answer.text
    problem(answer, answer.status_code)


@pytest.mark.fault("K6")
@pytest.mark.parametrize(
    "name", ["../../local.key", "..", "/etc/passwd", "plan\x00", "plan/../plan", "PLAN"]
)
async def test_transcripts_and_artifacts_stay_in_their_order(
    client: Any, order_body: Any, name: str
) -> None:
    made = (await client.post(ORDERS, json=order_body())).json()
    base = f"{ORDERS}/{made['agent_work_order']['agent_work_order_id']}"
    answer = await client.get(f"{base}/transcript", params={"task": name})
    problem(answer, 404)
    problem(await client.get(f"{base}/artifacts/{'..%2f' * 4}local.key"), 404)
    problem(await client.get(f"{base}/artifacts/{'f' * 64}"), 404, "artifact_unknown")


@pytest.mark.fault("K7")
@pytest.mark.fault("C9")
async def test_large_and_deep_bodies(client: Any) -> None:
    json_type = {"Content-Type": "application/json"}
    problem(await client.post(ORDERS, content=b" " * 10_000_000, headers=json_type), 413)

    async def endless() -> Any:
        for _ in range(100):
            yield b" " * 100_000

    problem(await client.post(ORDERS, content=endless(), headers=json_type), 413, "body_too_large")
    for sent, code in (
        (b"[" * 100_000, "json_too_deep"),
        (b"[" * 100_000 + b"]" * 100_000, "json_too_deep"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "json_too_deep"),
        (b'{"a": NaN}', "json_invalid"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "json_invalid"),
        (b'{"a": "\\ud800"}', "json_invalid"),
        (b"{", "json_invalid"),
        (b"\xff\xfe", "json_invalid"),
    ):
        problem(await client.post(ORDERS, content=sent, headers=json_type), 400, code)
    gzip = {**json_type, "Content-Encoding": "gzip"}
    problem(await client.post(ORDERS, content=b"\x1f\x8b", headers=gzip), 415, "body_encoded")


def test_depth_is_measured_outside_of_text() -> None:
    assert not bodies.too_deep(b'{"a": "' + b"[" * 1_000 + b'"}')
    assert not bodies.too_deep(b"[" + b"[]," * 5_000 + b"[]]")
    assert not bodies.too_deep(b"[" * 64 + b"]" * 64)
    assert bodies.too_deep(b"[" * 65 + b"]" * 65)
    assert bodies.too_deep(b'["\\"", ' + b"[" * 65 + b"]" * 66)


@given(st.lists(st.text('"\\\\[]{}:,a\n', max_size=8), max_size=8))
def test_text_is_left_out_whatever_it_holds(texts: list[str]) -> None:
    nested: Any = 1
    for text in texts:
        nested = {text: [nested, text]}
    body = json.dumps(nested).encode()
    bare = bodies.outside_strings(body)
    assert bare.translate(None, b" ,:1") == b"{[" * len(texts) + b"]}" * len(texts)
    assert bare.count(b":") == len(texts)
    assert bodies._STRINGS.sub(b"", body) == bare, "the frugal way says the same"


def test_large_text_is_left_out_too() -> None:
    body = b'["' + b"[" * bodies.FRUGAL_BYTES + b'", []]'
    assert bodies.outside_strings(body) == b"[, []]"


@pytest.mark.fault("C9")
async def test_a_body_that_trickles_is_given_up() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError("never reached")

    async def receive() -> Any:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b" ", "more_body": True}

    layer = bodies.Body(app, limit_bytes=1_000_000, timeout_s=0.1)
    with pytest.raises(TooSlow):
        await layer({"type": "http", "headers": []}, receive, receive)


@pytest.mark.fault("K7")
@pytest.mark.parametrize(
    "params",
    [
        {"limit": "-1"}, {"limit": "0"}, {"limit": "501"}, {"limit": str(10**9)},
        {"limit": "9" * 400}, {"offset": "-1"}, {"offset": "9" * 30}, {"limit": "x"},
        {"status": "nope"}, {"q": "x" * 201}, {"status": ["running"] * 11},
    ],
)  # fmt: skip
async def test_numbers_and_words_out_of_range(client: Any, params: Any) -> None:
    found = problem(await client.get(ORDERS, params=params), 422, "request_invalid")
    assert found["field"].split(".")[0] == next(iter(params))
    assert found["errors"]


@pytest.mark.fault("K7")
@pytest.mark.parametrize("text", ["NUL \x00 in it"])
async def test_text_that_cannot_be_kept(client: Any, order_body: Any, text: str) -> None:
    problem(await client.post(ORDERS, json=order_body(initial_prompt=text)), 400, "text_invalid")
    problem(await client.post(ORDERS, json=order_body(initial_prompt="x" * 65_537)), 422)
    found = await client.get(ORDERS, params={"q": text})
    assert found.status_code == 200


async def test_long_queries(client: Any) -> None:
    problem(await client.get(ORDERS + "?q=" + "x" * 9_000), 413, "query_too_large")
    visit = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    problem(await client.get(ORDERS + "?q=" + "x" * 9_000, headers=visit), 413)
    shown = await client.get("/orders?q=" + "x" * 9_000, headers=visit)
    assert (shown.status_code, shown.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert "<h1>The query has more than" in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    evil = {**visit, "Host": "<b>evil.test"}
    refused = await client.get("/", headers=evil)
    assert refused.status_code >= 400
    assert "<b>" not in refused.text


@pytest.mark.fault("K12")
async def test_a_crash_says_nothing_but_its_number(app: Any, client: Any) -> None:
    secret = "SELECT secret FROM /root/path"

    @app.get("/api/crash")
    async def crash() -> None:
        raise RuntimeError(secret)

    lines: list[Any] = []
    structlog.configure(processors=[lambda _l, _m, line: lines.append(line) or ""])
    answer = await client.get("/api/crash")
    found = problem(answer, 500, "internal_error")
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    [line] = [line for line in lines if line["event"] == "http_request_crashed"]
    assert line["request_id"] == found["request_id"]
    assert str(line["exc_info"]) == secret


@pytest.mark.fault("K12")
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Environmental("journal_full", "the disk is full", hint="Free space."), 507),
        (Environmental("sandbox_lost", "gone"), 503),
        (Transient("git_unreachable", "later", retry_after_s=7), 503),
        (Permanent("git_failed", "no"), 502),
    ],
)
async def test_what_fails_on_our_side_has_its_status(
    app: Any, client: Any, error: Any, status: int
) -> None:
    @app.get("/api/failing")
    async def failing() -> None:
        raise error

    answer = await client.get("/api/failing")
    problem(answer, status, error.code)
    assert ("retry-after" in answer.headers) == (status == 503)


async def test_unknown_addresses_and_methods_are_problems(client: Any) -> None:
    problem(await client.get("/api/nothing"), 404, "route_unknown")
    problem(await client.put(ORDERS, json={}), 405, "method_not_allowed")
    problem(await client.get("/nothing"), 404)


async def test_every_answer_is_inert_in_a_browser(client: Any) -> None:
    for path in (ORDERS, "/api/nothing", "/healthz", "/docs"):
        headers = (await client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


@pytest.mark.fault("K9")
async def test_artifacts_are_never_pages(client: Any, house: House, order_body: Any) -> None:
    made = (await client.post(ORDERS, json=order_body())).json()
    order_id = made["agent_work_order"]["agent_work_order_id"]
    kept = {}
    for name, media_type in (
        ("x.svg", "image/svg+xml"),
        ("x.html", "text/html"),
        ("x", "text/plain"),
    ):
        kept[name] = await house.context.store.artifacts.put(
            order_id, "plan", name, f"<script>{name}</script>".encode(), media_type, 1
        )
    for name, one in kept.items():
        answer = await client.get(f"{ORDERS}/{order_id}/artifacts/{one.sha256}")
        assert answer.text == f"<script>{name}</script>"
        assert answer.headers["content-type"] in (
            "application/octet-stream",
            "text/plain; charset=utf-8",
        )
        assert answer.headers["content-disposition"] == "attachment"
        assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.fault("K11")
async def test_line_breaks_stay_inside_their_log_line(
    client: Any, order_body: Any, house: House
) -> None:
    text = 'one\r\n{"event": "forged"}\n'
    made = (await client.post(ORDERS, json=order_body(initial_prompt=text, title=text))).json()
    order_id = made["agent_work_order"]["agent_work_order_id"]
    logs = (await client.get(f"{ORDERS}/{order_id}/logs")).json()["log_entries"]
    assert "forged" not in [entry["event"] for entry in logs]
    for file in (house.settings.home / "logs").rglob(f"*{order_id}*"):
        if file.is_file():
            assert b'{"event": "forged"' not in file.read_bytes().split(b"\n")
