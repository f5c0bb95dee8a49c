"""The reference page at /docs: made from the OpenAPI document, one file, no script, no asset."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import Any

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}"
    "code{font:13px ui-monospace,monospace}summary{cursor:pointer;padding:.3rem 0}"
    "table{border-collapse:collapse}td{padding:.15rem .8rem .15rem 0;vertical-align:top}"
    "@media(prefers-color-scheme:dark){body{background:#16181d;color:#dde}a{color:#8bf}}"
)
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
CSP = f"default-src 'none'; style-src 'sha256-{_HASH}'; frame-ancestors 'none'"
_METHODS = ("get", "post", "put", "patch", "delete")


def page(openapi: dict[str, Any]) -> str:
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width'>",
        f"<title>{escape(openapi['info']['title'])}</title><style>{STYLE}</style>",
        f"<h1>{escape(openapi['info']['title'])}</h1>",
        f"<p>{escape(openapi['info'].get('description', ''))}</p>",
        "<p>For machines: <a href='/openapi.json'>openapi.json</a>.</p>",
    ]
    groups: dict[str, list[str]] = {}
    for path, methods in openapi["paths"].items():
        for method in _METHODS:
            if method in methods:
                operation = methods[method]
                group = (operation.get("tags") or ["other"])[0]
                groups.setdefault(group, []).append(_operation(method, path, operation, openapi))
    for group, operations in groups.items():
        parts += [f"<h2>{escape(group)}</h2>", *operations]
    return "".join(parts)


def _operation(method: str, path: str, operation: dict[str, Any], openapi: dict[str, Any]) -> str:
    rows = [
        (one["name"], f"{one['in']}. {one.get('description', '')}")
        for one in operation.get("parameters", ())
    ]
    content = operation.get("requestBody", {}).get("content", {})
    rows += _fields(content.get("application/json", {}).get("schema", {}), openapi)
    table = "".join(f"<tr><td><code>{escape(name)}</code><td>{escape(text)}" for name, text in rows)
    return (
        f"<details><summary><code>{method.upper()} {escape(path)}</code> "
        f"{escape(operation.get('summary', ''))}</summary>"
        f"<p>{escape(operation.get('description', ''))}</p><table>{table}</table></details>"
    )


def _fields(schema: dict[str, Any], openapi: dict[str, Any]) -> list[tuple[str, str]]:
    for choice in schema.get("anyOf", ()):
        if "$ref" in choice:
            schema = choice
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        schema = openapi["components"]["schemas"][name]
    required = schema.get("required", ())
    return [
        (name, ("required. " if name in required else "") + str(field.get("description", "")))
        for name, field in schema.get("properties", {}).items()
    ]
