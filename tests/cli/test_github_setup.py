"""From nothing to the first labelled issue's pull request: as a person does it, in one terminal."""

from __future__ import annotations

import asyncio
import contextlib
import html
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from agent_work_orders.cli import github_setup

pytestmark = pytest.mark.slow

PATIENCE_S = 120.0


class Line:
    """What a program prints, line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def find(self, stream: Any, pattern: str) -> str:
        for line in stream:
            if found := re.search(pattern, line):
                return found[1]
        raise AssertionError((pattern, self.process.communicate()))


@pytest.fixture
def started(awo: Any) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    running: list[subprocess.Popen[str]] = []

    def start(*args: str, **env: str) -> subprocess.Popen[str]:
        running.append(awo.start(*args, **env))
        return running[-1]

    yield start
    for process in reversed(running):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def until(look: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come")


def simulated(started: Any, *options: str) -> tuple[str, dict[str, str], list[str]]:
    """Where it is, the environment and the commands that it prints."""
    process = started("simulate", "github", "--port", "0", *options)
    said, address = [], ""
    for line in process.stdout:
        said.append(line.strip())
        if found := re.search(r"listens at (\S+)", line):
            address = found[1]
        if line.startswith("  The scripted agent"):
            break
    printed = said[said.index("Start the product on it") + 1 : -1]
    words = shlex.split(" ".join(printed).replace("\\", " ").replace("export ", ""))
    given = dict(word.split("=", 1) for word in words if "=" in word and not word.startswith("-"))
    return address, given, printed


def label_an_issue(http: httpx.Client) -> None:
    body = {"title": "Add a plan", "body": "Please.", "labels": ["awo"]}
    act = {"login": "writer", "method": "POST", "path": "/repos/sample/basket/issues", "body": body}
    assert http.post("/_simulator/act", json=act).json()["status"] == 201


def pulls(http: httpx.Client) -> list[Any]:
    act = {"login": "writer", "method": "GET", "path": "/repos/sample/basket/pulls?state=all"}
    found: list[Any] = http.post("/_simulator/act", json=act).json()["body"]
    return found


@pytest.mark.timeout(300)
def test_from_nothing_to_the_first_pull_request(awo: Any, started: Any) -> None:
    address, given, printed = simulated(started, "--no-app")
    assert any(line.startswith("awo github setup --org sample") for line in printed)
    assert awo("github", "check", **given).code == 1, "nothing is configured yet"
    port = free_port()
    hook = f"http://127.0.0.1:{port}/webhook/github"
    setup = started("github", "setup", "--org", "sample", "--webhook-url", hook, **given)
    page = Line(setup).find(setup.stderr, r"Open (\S+) in a browser")
    with httpx.Client(base_url=address, trust_env=False, timeout=30) as http:
        # The browser: our page, GitHub's, and back with a code.
        shown = http.get(page).text
        action = html.unescape(re.search(r'action="([^"]+)"', shown)[1])  # type: ignore[index]
        manifest = html.unescape(re.search(r'value="([^"]+)"', shown)[1])  # type: ignore[index]
        sent = http.post(action, data={"manifest": manifest})
        back = sent.headers["location"]
        assert sent.status_code == 302 and back.startswith(f"{page}/callback?code=")
        forged = re.sub(r"state=\S+", "state=guessed", back)
        assert http.get(forged).status_code == 403
        assert http.get(back, headers={"host": "evil.example"}).status_code == 403
        assert http.get(back).status_code == 200
        install = Line(setup).find(setup.stderr, r"Install it: (\S+)")
        assert http.post(install).status_code == 200
        out, err = setup.communicate(timeout=60)
        assert setup.returncode == 0, (out, err)
        assert "PRIVATE KEY" not in out + err
        again = awo("github", "setup", "--json", **given)
        assert again.code == 2 and again.json["error"]["code"] == "app_known"
        assert "`awo github check`" in again.json["error"]["hint"]
        checked = awo("github", "check", **given)
        assert checked.code == 0 and "its key is accepted" in checked.out
        up = started("up", "--port", str(port), "--no-open", "--json", **given)
        Line(up).find(up.stdout, r'"url": "([^"]+)"')
        label_an_issue(http)
        [offered] = until(lambda: [one for one in pulls(http) if not one["draft"]])
        assert offered["head"]["ref"].startswith("feat-issue-1-wo-")


@pytest.mark.timeout(300)
def test_the_line_that_the_simulator_prints_works(started: Any) -> None:
    port = free_port()
    hook = f"http://127.0.0.1:{port}/webhook/github"
    address, given, printed = simulated(started, "--webhook-url", hook)
    assert printed[-1].endswith("awo up")
    up = started("up", "--port", str(port), "--no-open", "--json", **given)
    Line(up).find(up.stdout, r'"url": "([^"]+)"')
    with httpx.Client(base_url=address, trust_env=False, timeout=30) as http:
        label_an_issue(http)
        assert until(lambda: pulls(http))


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("url", ["foo", "ftp://x.example", "https://u:p@x.example", "/webhook"])
def test_an_address_for_webhooks_must_be_one(awo: Any, url: str) -> None:
    refused = awo("github", "setup", "--webhook-url", url)
    assert refused.code == 2 and "--webhook-url" in refused.err and refused.out == ""


async def test_the_page_of_the_set_up_is_bounded() -> None:
    async with github_setup._page(0) as page:
        page.shown = "shown"
        at = ("127.0.0.1", page.port)
        half = [await asyncio.open_connection(*at) for _ in range(github_setup.MOST_AT_ONCE)]
        for _, writer in half:
            writer.write(b"GET / HTTP/1.1\r\n")
            await writer.drain()
        one_more, writer = await asyncio.open_connection(*at)
        assert await one_more.read() == b""
        writer.close()
        (reader, writer), *others = half
        writer.write(f"Host: 127.0.0.1:{page.port}\r\n\r\n".encode())
        assert (await reader.read()).endswith(b"shown")
        large, writer = others[0]
        writer.write(b"X: " + b"x" * 2 * github_setup.HEAD_LIMIT_BYTES)
        with contextlib.suppress(ConnectionError):
            assert await large.read() == b""
        for _, writer in half:
            writer.close()
