"""The operator's file of MCP servers: what may stand in it, and what of it is secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_work_orders.agent_executor import claude_mcp

GOOD = {
    "mcpServers": {
        "files": {
            "command": "/usr/bin/files-mcp",
            "args": ["--root", "."],
            "env": {"FILES_TOKEN": "token-0123456789", "REGION": "production"},
        },
        "tickets": {
            "type": "http",
            "url": "https://tickets.example.com/mcp",
            "headers": {"Authorization": "Bearer ticket-0123456789"},
        },
    }
}


def test_reads_servers_by_name_and_knows_their_secrets() -> None:
    text = json.dumps(GOOD)
    assert list(claude_mcp.servers(text)) == ["files", "tickets"]
    assert set(claude_mcp.secrets(text)) == {
        "token-0123456789",
        "Bearer ticket-0123456789",
        "ticket-0123456789",
    }
    assert claude_mcp.secrets("") == ()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("no json hush-hush-hush", "JSON"),
        ("[]", "mcpServers"),
        ('{"mcpServers": {}, "more": "hush-hush-hush"}', "mcpServers"),
        ({"a b": {"command": "x"}}, "letters"),
        ({"a": "hush-hush-hush"}, "an object"),
        ({"a": {}}, "either a command or a url"),
        ({"a": {"command": "x", "url": "y"}}, "either a command or a url"),
        ({"a": {"command": ["hush-hush-hush"]}}, "command is a text"),
        ({"a": {"command": "x", "args": "hush-hush-hush"}}, "args"),
        ({"a": {"command": "x", "env": {"A": 1}}}, "env"),
        ({"a": {"command": "x", "envs": {"A": "hush-hush-hush"}}}, "only these are known"),
        ({"a": {"command": "x", "env": {"A": "${HOME}"}}}, "${"),
    ],
)
def test_says_what_is_wrong_and_repeats_no_value(content: Any, told: str) -> None:
    text = content if isinstance(content, str) else json.dumps({"mcpServers": content})
    with pytest.raises(ValueError, match=r".") as caught:
        claude_mcp.servers(text)
    assert told in str(caught.value)
    assert "hush" not in str(caught.value)
