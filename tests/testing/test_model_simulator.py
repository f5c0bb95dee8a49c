"""The simulated Messages API, by plain HTTP."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from agent_work_orders.errors import Refused
from agent_work_orders.testing.model_simulator import (
    Fault,
    ModelSimulator,
    Script,
    refused_address,
)
from agent_work_orders.testing.model_simulator.script import call, load, say

BODY = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}


async def post(model: ModelSimulator, **more: object) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.post(f"{model.url}/v1/messages?beta=true", json=BODY | more)


def events(response: httpx.Response) -> list[dict[str, object]]:
    lines = response.text.splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


async def test_answers_in_order_then_says_done() -> None:
    async with ModelSimulator(Script(turns=(call("Bash", command="ls"), say("bye")))) as model:
        first = events(await post(model))
        assert [event["type"] for event in first] == [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
        assert first[4]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
        whole = (await post(model, stream=False)).json()
        assert whole["content"] == [{"type": "text", "text": "bye"}]
        assert whole["stop_reason"] == "end_turn"
        assert "done" in (await post(model)).text
        assert model.requests[0].texts == ["hi"]


async def test_a_fault_lasts_as_long_as_it_says() -> None:
    fault = Fault(status=429, headers={"retry-after": "3"}, times=2)
    async with ModelSimulator(Script(turns=(fault, say("ok")))) as model:
        for _ in range(2):
            response = await post(model)
            assert response.status_code == 429
            assert response.headers["retry-after"] == "3"
            assert response.json()["error"]["type"] == "rate_limit_error"
        assert (await post(model)).status_code == 200


@pytest.mark.parametrize("kind", ["truncated", "reset"])
async def test_broken_connections(kind: str) -> None:
    async with ModelSimulator(Script(turns=(Fault(kind=kind),))) as model:  # type: ignore[arg-type]
        with pytest.raises(httpx.TransportError):
            await post(model)


async def test_a_hang_ends_with_the_simulator() -> None:
    async with ModelSimulator(Script(turns=(Fault(kind="hang"),))) as model:
        waiting = asyncio.create_task(post(model))
        while not model.requests:
            await asyncio.sleep(0.01)
        assert not waiting.done()
    with pytest.raises(httpx.TransportError):
        await waiting


async def test_a_refused_address_refuses() -> None:
    with refused_address() as address:
        async with httpx.AsyncClient(trust_env=False) as client:
            with pytest.raises(httpx.ConnectError):
                await client.get(address)


async def test_other_paths_and_nonsense_do_not_stop_it() -> None:
    async with ModelSimulator() as model:
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"{model.url}/")).status_code == 404
            counted = await client.post(f"{model.url}/v1/messages/count_tokens", json={})
            assert counted.json() == {"input_tokens": 1000}
        port = int(model.url.rsplit(":", 1)[1])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"nonsense\r\n\r\n")
        await writer.drain()
        writer.close()
        assert (await post(model)).status_code == 200


def test_a_script_is_read_from_yaml() -> None:
    script = load(
        "turns:\n"
        "  - type: reply\n    blocks: [{type: text, text: hi}]\n"
        "  - {type: fault, kind: status, status: 529}\n"
    )
    assert script.turns == (say("hi"), Fault(status=529))
    with pytest.raises(Refused) as caught:
        load("turns: [{type: replie}]")
    assert caught.value.code == "model_script_invalid"
