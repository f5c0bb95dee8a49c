"""How a scripted fault looks on the connection.

`before` answers in place of the simulator and returns True, or lets the request go on. `answer`
sends the finished answer, damaged as the fault says.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from github_simulator.outside.faults import HANG_LIMIT_S, SLOW_LIMIT_S, Fault
from github_simulator.outside.wire import Exchange

HTML = (
    b"<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head>"
    b"<body><p>This page is taking too long to load.</p></body></html>\n"
)
PAGE = {"content-type": "text/html; charset=utf-8"}
JSON = {"content-type": "application/json; charset=utf-8"}
# Behind GitHub's load balancer 502 and 504 are pages for people, 500 and 503 are JSON.
PAGES = frozenset({502, 504})
SLOW_PIECES = 20


async def before(exchange: Exchange, fault: Fault, moved_to: str) -> None:
    """Answer a request that is not applied."""
    match fault.kind:
        case "moved":
            headers = {**JSON, "location": moved_to, **fault.headers}
            body = (
                b'{"message":"Moved Permanently","url":"%s","documentation_url":'
                b'"https://docs.github.com/rest"}' % moved_to.encode("latin-1", "replace")
            )
            await exchange.answer(301, headers, body)
        case "elsewhere":
            await exchange.answer(302, {**PAGE, "location": fault.location, **fault.headers}, b"")
        case _:
            await answer(exchange, fault, 200, JSON, b"{}")


async def answer(
    exchange: Exchange, fault: Fault, status: int, headers: Mapping[str, str], content: bytes
) -> None:
    """Answer with this, damaged."""
    match fault.kind:
        case "hang":
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(fault.seconds or HANG_LIMIT_S):
                    await exchange.gone()
            exchange.hang_up()
        case "drop":
            exchange.hang_up()
        case "reset":
            exchange.hang_up(rudely=True)
        case "status":
            await _error(exchange, fault)
        case "html":
            await exchange.answer(200, {**headers, **PAGE}, HTML)
        case "empty":
            await exchange.answer(200, headers, b"")
        case "wrong_type":
            await exchange.answer(status, headers, b'"ok"')
        case "truncated":
            await exchange.start(status, {**headers, "content-length": str(len(content) or 100)})
            await exchange.write(content[: len(content) // 2], more=True)
            exchange.hang_up()
        case "slow":
            await _slowly(exchange, fault, status, headers, content)
        case "charset":
            text = content.decode("utf-8", "replace").encode("cp500", "replace")
            await exchange.answer(status, headers, text)
        case "loop":
            await exchange.answer(status, {**headers, "link": _looping(exchange)}, content)
        case _:
            await exchange.answer(status, headers, content)


async def _error(exchange: Exchange, fault: Fault) -> None:
    if fault.status in PAGES:
        await exchange.answer(fault.status, {**PAGE, **fault.headers}, HTML)
        return
    body = b'{"message":"Server Error","documentation_url":"https://docs.github.com/rest"}'
    await exchange.answer(fault.status, {**JSON, **fault.headers}, body)


async def _slowly(
    exchange: Exchange, fault: Fault, status: int, headers: Mapping[str, str], content: bytes
) -> None:
    await exchange.start(status, {**headers, "content-length": str(len(content))})
    size = max(1, -(-len(content) // SLOW_PIECES))
    pieces = [content[at : at + size] for at in range(0, len(content), size)] or [b""]
    pause_s = min(fault.seconds, SLOW_LIMIT_S) / len(pieces)
    for number, piece in enumerate(pieces):
        await asyncio.sleep(pause_s)
        await exchange.write(piece, more=number + 1 < len(pieces))


def _looping(exchange: Exchange) -> str:
    request = exchange.request
    host = request.headers.get("host", "127.0.0.1")
    return f'<http://{host}{request.path}?{request.query_string}>; rel="next"'
