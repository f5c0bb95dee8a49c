"""The real Claude Code CLI signs in each way, and uses the operator's MCP servers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from agent_work_orders.agent_executor.agent import AgentRequest, Entry, Turn
from agent_work_orders.agent_executor.claude_code import ClaudeCode, Options, Settings, find_binary
from agent_work_orders.agent_executor.claude_sign_in import SignIn
from agent_work_orders.clock import SystemClock
from agent_work_orders.security.outbound import Outbound
from agent_work_orders.testing.fakes.local_sandbox import LocalSandbox
from agent_work_orders.testing.model_simulator import ModelSimulator, Script
from agent_work_orders.testing.model_simulator.script import call, say
from outside import ConnectProxy, TlsBefore, certificate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_binary(None) is None and os.environ.get("CI") != "true",
        reason="Claude Code is not installed (claude-agent-sdk)",
    ),
]

TOKEN = "sk-ant-oat01-0123456789abcdef"

MCP_SERVER = """\
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        answer = {"protocolVersion": asked["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif asked.get("method") == "tools/list":
        answer = {"tools": [{"name": "ticket", "description": "Reads a ticket",
                             "inputSchema": {"type": "object", "properties": {}}}]}
    elif asked.get("method") == "tools/call":
        answer = {"content": [{"type": "text", "text": "ticket of " + os.environ["WHO"]}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


async def turn(
    folder: Path, settings: Settings, entries: list[Entry] | None = None, timeout_s: float = 60
) -> Turn:
    agent = ClaudeCode(SystemClock(), settings, Options())
    heard: list[Entry] = [] if entries is None else entries
    request = AgentRequest(prompt="go", timeout_s=timeout_s)
    return await agent.run(request, LocalSandbox(folder), transcript=heard.append)


@pytest.mark.parametrize(
    ("given", "header", "value"),
    [
        ({"subscription_token": TOKEN}, "authorization", f"Bearer {TOKEN}"),
        ({"gateway_token": "gw-0123456789"}, "authorization", "Bearer gw-0123456789"),
        ({"api_key": "sk-0123456789"}, "x-api-key", "sk-0123456789"),
        (
            {"api_key": "sk-0123456789", "subscription_token": TOKEN},
            "x-api-key",
            "sk-0123456789",
        ),
    ],
)
async def test_signs_in_with_a_token(
    tmp_path: Path, given: dict[str, str], header: str, value: str
) -> None:
    async with ModelSimulator(Script(turns=(say("Signed in."),))) as model:
        sign_in = SignIn(base_url=model.url, **given)
        done = await turn(tmp_path, Settings(sign_in=sign_in, other_user=False, max_retries=0))
    assert done.ok, done
    assert done.text == "Signed in."
    assert model.requests[-1].headers[header] == value
    others = {"authorization", "x-api-key"} - {header}
    assert not others & set(model.requests[-1].headers)


async def test_goes_through_the_operators_proxy(tmp_path: Path) -> None:
    """A name that only the proxy knows, and a certificate that only the operator's authority
    signed: the model hears from it."""
    file = certificate(tmp_path, "model.example.test")
    script = Script(turns=(say("Through."),))
    async with (
        ModelSimulator(script) as model,
        TlsBefore(file, model.url) as front,
        ConnectProxy(front.port) as proxy,
    ):
        outbound = Outbound(proxy=f"http://{proxy.address}", certificates=str(file))
        sign_in = SignIn(base_url="https://model.example.test", api_key="sk-0123456789")
        settings = Settings(sign_in=sign_in, other_user=False, max_retries=0, outbound=outbound)
        done = await turn(tmp_path, settings)
    assert done.ok and done.text == "Through.", done
    assert proxy.asked and all("model.example.test:443" in head for head in proxy.asked)


class Recorder:
    """Hears what a cloud would be asked, and refuses it."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.port = 0

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Recorder]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode("latin-1"))
            body = b'{"message":"The security token included in the request is invalid."}'
            head = f"HTTP/1.1 403 Forbidden\r\ncontent-length: {len(body)}\r\n"
            writer.write(f"{head}content-type: application/json\r\n\r\n".encode() + body)
            await writer.drain()
        writer.close()

    def asked(self, part: str) -> list[str]:
        return [head.lower() for head in self.heads if part in head.split("\r\n")[0]]


async def test_asks_bedrock_with_its_key(tmp_path: Path) -> None:
    async with Recorder().open() as cloud:
        sign_in = SignIn(
            bedrock=True,
            bedrock_base_url=f"http://127.0.0.1:{cloud.port}",
            aws_region="eu-west-1",
            aws_bearer_token="bedrock-key-0123456789",
            api_key="sk-of-another-way-0123456789",
        )
        done = await turn(tmp_path, Settings(sign_in=sign_in, other_user=False, max_retries=0))
    assert not done.ok and done.error is not None and done.error.kind == "auth", done
    asked = cloud.asked("/model/")
    assert asked and all("authorization: bearer bedrock-key-0123456789" in one for one in asked)
    assert not any("sk-of-another-way" in head for head in cloud.heads)


async def test_asks_bedrock_with_a_signature(tmp_path: Path) -> None:
    async with Recorder().open() as cloud:
        sign_in = SignIn(
            bedrock=True,
            bedrock_base_url=f"http://127.0.0.1:{cloud.port}",
            aws_region="eu-west-1",
            aws_access_key_id="AKIDEXAMPLE",
            aws_secret_access_key="never-on-the-wire-0123456789",
            aws_session_token="session-0123456789",
        )
        await turn(tmp_path, Settings(sign_in=sign_in, other_user=False, max_retries=0))
    asked = cloud.asked("/model/")
    assert asked
    assert all("credential=akidexample/" in one and "/eu-west-1/bedrock/" in one for one in asked)
    assert all("x-amz-security-token: session-0123456789" in one for one in asked)
    assert not any("never-on-the-wire" in head for head in cloud.heads)


async def test_vertex_gets_its_credentials_as_a_file_of_the_order(tmp_path: Path) -> None:
    async with Recorder().open() as cloud:
        address = f"http://127.0.0.1:{cloud.port}"
        credentials = {
            "type": "authorized_user",
            "client_id": "an-id",
            "client_secret": "a-client-secret-0123456789",
            "refresh_token": "a-refresh-token-0123456789",
            "token_uri": f"{address}/token",
            "universe_domain": "googleapis.com",
        }
        sign_in = SignIn(
            vertex=True,
            vertex_base_url=f"{address}/v1",
            vertex_region="europe-west1",
            vertex_project="a-project",
            google_credentials=json.dumps(credentials),
        )
        settings = Settings(sign_in=sign_in, other_user=False, max_retries=0)
        sandbox = LocalSandbox(tmp_path)
        agent = ClaudeCode(SystemClock(), settings, Options())
        files = await agent.put_files(sandbox)
        assert files.google is not None
        kept = Path(files.google)
        assert json.loads(kept.read_text()) == credentials
        assert kept.stat().st_mode & 0o077 == 0
        assert not kept.is_relative_to(sandbox.workspace)
        assert "a-refresh-token" not in " ".join(agent.environment().values())


async def test_uses_the_operators_mcp_servers(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(MCP_SERVER)
    config = {
        "mcpServers": {
            "tickets": {
                "command": sys.executable,
                "args": [str(server)],
                "env": {"WHO": "the operator"},
            }
        }
    }
    script = Script(turns=(call("mcp__tickets__ticket"), say("Read.")))
    entries: list[Entry] = []
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with ModelSimulator(script) as model:
        sign_in = SignIn(base_url=model.url, api_key="sk-0123456789")
        settings = Settings(
            sign_in=sign_in, mcp_config=json.dumps(config), other_user=False, max_retries=0
        )
        done = await turn(workspace, settings, entries)
    assert done.ok, (done, entries)
    assert any("ticket of the operator" in text for text in model.requests[-1].texts), entries


async def test_an_mcp_server_that_does_not_start_is_told(tmp_path: Path) -> None:
    config = {"mcpServers": {"gone": {"command": str(tmp_path / "no-such-program")}}}
    entries: list[Entry] = []
    async with ModelSimulator(Script(turns=(say("Without it."),))) as model:
        sign_in = SignIn(base_url=model.url, api_key="sk-0123456789")
        settings = Settings(
            sign_in=sign_in, mcp_config=json.dumps(config), other_user=False, max_retries=0
        )
        done = await turn(tmp_path, settings, entries)
    assert done.ok
    told = [entry.text for entry in entries if "gone" in entry.text]
    assert told and "MCP server" in told[0], entries
