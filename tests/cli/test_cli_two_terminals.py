"""One data directory, a working `awo run`, other terminals and a browser beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent_work_orders.state_manager import lock

pytestmark = pytest.mark.slow

GATE = """\
name: gate
tasks:
  build: {uses: agent.prompt, with: {prompt: Go}}
  publish:
    needs: [build]
    approval: {message: Publish it?}
    uses: forge.open_pull_request
"""


class Terminal:
    """An `awo run` that works until its `go` is touched."""

    def __init__(self, awo: Any, name: str, *more: str) -> None:
        self.go = awo.folder / f"go-{name}"
        self.began = awo.folder / f"began-{name}"
        agent = awo.agent(
            f"touch {self.began}; while [ ! -e {self.go} ]; do sleep 0.05; done; "
            f"echo {name} >> calc.py; cat > {self.began}.prompt",
            name,
        )
        workflow = () if "--workflow" in more else ("--workflow", "agent_workflow_build")
        self.process: subprocess.Popen[str] = awo.start(
            "run", "--repo", "repo", "--agent-command", agent, *workflow, *more, "Do it"
        )
        self._awo = awo

    def order(self) -> str:
        """Its id, once its agent works."""
        wait_until(self.began.exists)
        [found] = [
            one["agent_work_order_id"]
            for one in self._awo.inside("list", "--json").json["agent_work_orders"]
            if self.go.name.removeprefix("go-") in json.dumps(one["agent"])
        ]
        return str(found)

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def wait_until(true: Callable[[], Any]) -> None:
    while not true():
        time.sleep(0.05)


def answering(home: Path) -> str:
    def url() -> str:
        owner = lock.read_owner(home)
        return owner.url if owner else ""

    wait_until(url)
    return url()


@pytest.fixture
def terminal(awo: Any) -> Any:
    awo.repository()
    awo.folder.chmod(0o777)
    made: list[Terminal] = []

    def make(name: str, *more: str) -> Terminal:
        made.append(Terminal(awo, name, *more))
        return made[-1]

    yield make
    for one in made:
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate()
    wait_until(lambda: not awo.left_behind())


def state(awo: Any, order: str) -> str:
    return str(awo.inside("show", order, "--json").json["agent_work_order"]["status"])


def asked(awo: Any, terminal: Any, name: str) -> tuple[str, str]:
    """An order from a terminal of its own, and the question that it stopped at."""
    gated = terminal(name, "--workflow", "gate.yaml", "--json")
    order = gated.order()
    gated.go.touch()
    code, out, err = gated.end()
    assert (code, err) == (3, ""), out
    [question] = json.loads(out)["approvals"]
    return order, question["approval_id"]


def test_who_works_answers_other_terminals(awo: Any, terminal: Any) -> None:
    """Show, prompt, run another, approve, reject and cancel, all while it works."""
    (awo.folder / "gate.yaml").write_text(GATE)
    first = terminal("first")
    order = first.order()
    answering(awo.home)

    assert state(awo, order) == "running"
    assert order in awo.inside("list").out or order[:11] in awo.inside("list").out
    followed = awo.start("logs", "-f", order)
    said = awo.inside("prompt", order, "Mind the tests", "--json")
    assert said.code == 0 and said.json["prompt_accepted"], said.err

    # Other orders, asked for in further terminals, are run by the first.
    second, question = asked(awo, terminal, "agreed")
    assert lock.read_owner(awo.home).pid == first.process.pid  # type: ignore[union-attr]
    assert state(awo, second) == "waiting"
    approved = awo.inside("approve", question)
    assert approved.code == 0, approved.err
    wait_until(lambda: state(awo, second) not in ("waiting", "running", "pending"))
    assert state(awo, second) == "completed"

    third, question = asked(awo, terminal, "refused")
    rejected = awo.inside("reject", question, "-m", "no")
    assert rejected.code == 0, rejected.err
    assert state(awo, third) == "failed"

    fourth = terminal("fourth")
    cancelled = awo.inside("cancel", fourth.order(), "--json")
    assert cancelled.json["agent_work_order"]["status"] == "cancelled"
    assert fourth.end()[0] == 1

    first.go.touch()
    code, out, err = first.end()
    assert code == 0, out + err
    out, err = followed.communicate(timeout=60)
    assert (followed.returncode, err) == (0, "")
    assert out.count("agent_work_order_created") == 1 and "agent_work_order_completed" in out


class Browser:
    """A page that came in by the link of `awo open`."""

    def __init__(self, awo: Any, url: str) -> None:
        link = awo.inside("open", "--json").json["link"]
        address, _, token = link.partition("#")
        assert address.startswith(url)
        self.http = httpx.Client(base_url=url, trust_env=False)
        secret = self.http.post("/api/session", json={"token": token}).json()["page_secret"]
        self._page = {"X-AWO-Page": secret, "Origin": url}

    def get(self, path: str) -> Any:
        return self.http.get(path, headers=self._page).raise_for_status().json()

    def post(self, path: str, body: Any = None) -> Any:
        return self.http.post(path, json=body, headers=self._page).raise_for_status().json()


def test_who_works_answers_a_browser(awo: Any, terminal: Any) -> None:
    """Show, prompt, run another, approve and cancel, all while it works."""
    first = terminal("first")
    order = first.order()
    browser = Browser(awo, answering(awo.home))
    orders = "/api/agent-work-orders"

    def status(of: str) -> str:
        return str(browser.get(f"{orders}/{of}")["agent_work_order"]["status"])

    def another(workflow: str, script: str, name: str) -> str:
        agent = {"name": "command", "argv": [awo.agent(script, name)]}
        body = {
            "repository_url": str(awo.folder / "repo"),
            "workflow_source": workflow,
            "initial_prompt": "Go",
            "agent": agent,
        }
        return str(browser.post(orders, body)["agent_work_order"]["agent_work_order_id"])

    with closing(browser.http):
        assert status(order) == "running"
        assert browser.http.get(orders).status_code == 401
        said = {"agent_work_order_id": order, "prompt_text": "And the docs"}
        assert browser.post(f"{orders}/{order}/prompt", said)["prompt_accepted"]

        second = another(GATE, "echo x >> calc.py", "quick")
        wait_until(lambda: browser.get(f"{orders}/{second}/approvals")["approvals"])
        [question] = browser.get(f"{orders}/{second}/approvals")["approvals"]
        body = {"subject_hash": question["subject_hash"]}
        browser.post(f"/api/approvals/{question['approval_id']}/approve", body)
        wait_until(lambda: status(second) not in ("waiting", "running", "pending"))
        assert status(second) == "completed"

        began = awo.folder / "began-hanging"
        third = another(GATE, f"touch {began}; sleep 600", "hanging")
        wait_until(began.exists)
        assert status(third) == "running"
        browser.post(f"{orders}/{third}/cancel")
        wait_until(lambda: status(third) != "running")
        assert status(third) == state(awo, third) == "cancelled"
        assert status(order) == "running", "only what was meant was cancelled"

    first.go.touch()
    code, out, err = first.end()
    assert code == 0, out + err


def test_it_stays_until_the_orders_of_others_have_ended(awo: Any, terminal: Any) -> None:
    first, second = terminal("first"), None
    first.order()
    answering(awo.home)
    second = terminal("second")
    other = second.order()
    first.go.touch()
    wait_until(lambda: "completed" in awo.inside("list", "--status", "completed").out)
    assert first.process.stdout is not None
    assert awo.inside("show", other, "--json").json["agent_work_order"]["status"] == "running"
    assert first.process.poll() is None
    second.go.touch()
    code, out, err = second.end()
    assert code == 0, out + err
    assert "completed" in out
    code, out, err = first.end()
    assert code == 0 and "completed" in out
    assert f"note: Orders of others run here: {other[:11]}" in err
    assert "Ctrl-C" in err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_when_it_goes_the_other_terminal_goes_on_with_its_order(
    awo: Any, terminal: Any, how: signal.Signals
) -> None:
    first = terminal("first")
    order = first.order()
    url = answering(awo.home)
    second = terminal("second")
    other = second.order()
    second.began.unlink()
    first.process.send_signal(how)
    code, _, err = first.end()
    assert code == (130 if how == signal.SIGINT else -signal.SIGKILL)
    if how == signal.SIGINT:
        assert f"awo resume {order[:11]}" in err
        assert other[:11] in err
    # Begun again in its own terminal, which owns the directory now.
    wait_until(second.began.exists)
    assert lock.read_owner(awo.home).pid == second.process.pid  # type: ignore[union-attr]
    # The order that was left is there, and is taken up when somebody wants something of it.
    assert answering(awo.home) != url
    found = awo.inside("show", order, "--json").json["agent_work_order"]
    assert found["status"] in ("pending", "running")
    first.go.touch()
    resumed = awo("resume", order)
    assert resumed.code == 0, resumed.out + resumed.err
    second.go.touch()
    code, out, err = second.end()
    assert code == 0, out + err
    assert "it goes on here" in out


def test_an_order_that_was_left_can_be_cancelled_through_the_owner(awo: Any, terminal: Any) -> None:
    first = terminal("first")
    order = first.order()
    os.kill(first.process.pid, signal.SIGKILL)
    first.end()
    second = terminal("second")
    second.order()
    answering(awo.home)
    done = awo.inside("cancel", order, "--json")
    assert done.code == 0, done.err
    assert done.json["agent_work_order"]["status"] == "cancelled"
    second.go.touch()
    assert second.end()[0] == 0


def test_only_who_has_a_key_is_answered_and_a_kill_is_no_obstacle(awo: Any, terminal: Any) -> None:
    first = terminal("first")
    order = first.order()
    url = answering(awo.home)
    assert url.startswith("http://127.0.0.1:")
    path = f"{url}/api/agent-work-orders/{order}"
    with httpx.Client(trust_env=False) as stranger:
        assert stranger.post(f"{path}/cancel").status_code == 401
        wrong = {"Authorization": "Bearer wrong"}
        assert stranger.post(f"{path}/cancel", headers=wrong).status_code == 401
        rebound = {"Host": "evil.example"}
        assert stranger.get(path, headers=rebound).status_code == 403
    assert (awo.home / "local.key").stat().st_mode & 0o077 == 0

    server = awo.inside("up", "--port", "0")
    assert server.code == 2
    assert f"process {first.process.pid}" in server.err and "awo open" in server.err

    first.process.kill()
    first.end()
    assert url in (awo.home / "owner.lock").read_text()
    assert awo.inside("show", order, "--json").code == 0
    assert awo.inside("cancel", order).code == 0
