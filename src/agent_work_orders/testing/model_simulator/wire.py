"""The Messages API as bytes: a scripted turn in, a response body out. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from agent_work_orders.testing.model_simulator.script import Block, Reply, Text, Thinking, ToolUse

JsonObject = dict[str, Any]

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


def error_body(status: int, message: str, request_id: str) -> bytes:
    kind = ERROR_TYPES.get(status, "api_error")
    body = {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": request_id,
    }
    return msgspec.json.encode(body)


def message_body(reply: Reply, model: str, serial: int) -> bytes:
    """The answer to a request without streaming."""
    content = [_whole(block, serial, index) for index, block in enumerate(reply.blocks)]
    message = _message(model, serial, reply) | {
        "content": content,
        "stop_reason": reply.ends_with,
        "usage": _usage(reply, reply.output_tokens),
    }
    return msgspec.json.encode(message)


def stream(reply: Reply, model: str, serial: int) -> Iterator[bytes]:
    """The same answer as server-sent events, one chunk per event."""
    yield _event("message_start", {"message": _message(model, serial, reply)})
    for index, block in enumerate(reply.blocks):
        start, delta = _parts(block, serial, index)
        yield _event("content_block_start", {"index": index, "content_block": start})
        yield _event("content_block_delta", {"index": index, "delta": delta})
        yield _event("content_block_stop", {"index": index})
    yield _event(
        "message_delta",
        {
            "delta": {"stop_reason": reply.ends_with, "stop_sequence": None},
            "usage": _usage(reply, reply.output_tokens),
        },
    )
    yield _event("message_stop", {})


def _message(model: str, serial: int, reply: Reply) -> JsonObject:
    return {
        "id": f"msg_simulated_{serial:06d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(reply, 1),
    }


def _usage(reply: Reply, output_tokens: int) -> JsonObject:
    usage = {"input_tokens": reply.input_tokens, "output_tokens": output_tokens}
    if reply.cache_read_tokens or reply.cache_write_tokens:
        usage["cache_read_input_tokens"] = reply.cache_read_tokens
        usage["cache_creation_input_tokens"] = reply.cache_write_tokens
    return usage


def _tool_id(serial: int, index: int) -> str:
    return f"toolu_simulated_{serial:06d}_{index}"


def _whole(block: Block, serial: int, index: int) -> JsonObject:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Thinking(thinking=thinking):
            return {"type": "thinking", "thinking": thinking, "signature": "simulated"}
        case ToolUse(name=name, input=arguments):
            return {
                "type": "tool_use",
                "id": _tool_id(serial, index),
                "name": name,
                "input": arguments,
            }


def _parts(block: Block, serial: int, index: int) -> tuple[JsonObject, JsonObject]:
    whole = _whole(block, serial, index)
    match block:
        case Text(text=text):
            return whole | {"text": ""}, {"type": "text_delta", "text": text}
        case Thinking(thinking=thinking):
            return whole | {"thinking": ""}, {"type": "thinking_delta", "thinking": thinking}
        case ToolUse(input=arguments):
            partial = msgspec.json.encode(arguments).decode()
            return whole | {"input": {}}, {"type": "input_json_delta", "partial_json": partial}


def _event(kind: str, body: JsonObject) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), msgspec.json.encode({"type": kind} | body))
