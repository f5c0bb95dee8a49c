"""A delivery in GitHub's other form: `payload=` and the JSON, url-encoded. Pure."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from agent_work_orders.errors import BadRequest

FORM = "application/x-www-form-urlencoded"
_NAME = b"payload="
_AT_ONCE = 64 * 1024
"""Decoding makes an object of every escape: bounded, whatever the body has."""


def payload(body: bytes) -> bytes:
    """The JSON text of the one field that GitHub sends. BadRequest `form_invalid`."""
    if not body.startswith(_NAME) or b"&" in body or b";" in body:
        raise BadRequest(
            "form_invalid",
            "The form does not have exactly one field, payload",
            hint="Send what GitHub sends, or choose the content type application/json.",
        )
    text = body[len(_NAME) :].replace(b"+", b" ")
    if text.count(b"%") == 0:
        return text
    found = bytearray()
    start = 0
    while start < len(text):
        end = min(len(text), start + _AT_ONCE)
        # An escape is not cut in two.
        cut = text.rfind(b"%", max(start, end - 2), end)
        if cut > start and end < len(text):
            end = cut
        found += unquote_to_bytes(text[start:end])
        start = end
    return bytes(found)
