"""Hints can be followed: where an error names a command, running it helps or says why not.

tests/tidy/test_hints.py lists which test follows which, and holds that none is left out.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import re
import signal
import sqlite3
import subprocess
from typing import Any

import httpx
import pytest

from agent_work_orders import settings as setting
from agent_work_orders.bootstrap import open_house
from agent_work_orders.clock import SystemClock
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.state_manager.sqlite import database
from agent_work_orders.work_orders import inspect
from agent_work_orders.workflow_engine import events as on

pytestmark = pytest.mark.slow

_COMMAND = re.compile(r"`(awo [^`]*)`")


def follow(awo: Any, hint: str, *, codes: tuple[int, ...] = (0,), **names: str) -> list[Any]:
    """Type every command of the hint."""
    found = _COMMAND.findall(hint)
    assert found, hint
    done = []
    for command in found:
        words = [names.get(word, word) for word in command.split()[1:]]
        done.append(awo.inside(*words))
        assert done[-1].code in codes, (command, done[-1].err)
    return done


def refused(awo: Any, code: str, *args: str, **env: str) -> str:
    """The hint of a command that is refused with the code."""
    done = awo.inside(*args, "--json", **env)
    assert done.code in (1, 2), done.out
    assert done.json["error"]["code"] == code, done.out
    return str(done.json["error"]["hint"])


def an_order(awo: Any, *more: str) -> str:
    if not (awo.folder / "repo").exists():
        awo.repository()
    request = ("run", "--repo", "repo", "--workflow", "agent_workflow_build", "--json", *more)
    done = awo.inside(*request, "--agent-command", awo.agent("echo x >> calc.py"), "Go")
    return str(done.json["agent_work_order"]["agent_work_order_id"])


def test_what_is_not_known_is_listed(awo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    order = an_order(awo)
    absent = "wo-" + "0" * 16
    [listed] = follow(awo, refused(awo, "order_unknown", "show", absent))
    assert order[:11] in listed.out
    assert "Nothing waits" in follow(awo, refused(awo, "approval_unknown", "approve", order))[0].out
    follow(awo, refused(awo, "api_key_unknown", "key", "revoke", "awo_none"))
    follow(awo, refused(awo, "credential_unknown", "credentials", "remove", "GITHUB_TOKEN"))
    follow(awo, refused(awo, "delivery_unknown", "deliveries", "show", "none"))
    [known] = follow(
        awo, refused(awo, "workflow_unknown", "run", "--repo", "repo", "--workflow", "x", "Go")
    )
    assert "agent_workflow_build" in known.out
    follow(awo, refused(awo, "artifact_unknown", "artifacts", order, "none"), ORDER=order)
    [shown] = follow(awo, refused(awo, "task_unknown", "retry", order, "--from", "nowhere"))
    assert "build" in shown.out

    async def unknown() -> tuple[str, str]:
        settings = setting.load(home=awo.home)
        async with open_house(settings) as house:
            event = on.CancelAsked(at_ms=0)
            with pytest.raises(AgentWorkOrdersError) as run:
                await house.engine.post(absent, event)
            with pytest.raises(AgentWorkOrdersError) as review:
                nowhere = Repository(key="none")
                await house.context.reviews.close_pull_request(nowhere, 7, "because")
            assert (run.value.code, review.value.code) == ("run_unknown", "review_unknown")
            return run.value.hint, review.value.hint

    of_run, of_review = asyncio.run(unknown())
    assert order[:11] in follow(awo, of_run)[0].out
    assert "review" in follow(awo, of_review, ORDER=order)[0].out

    monkeypatch.setattr(inspect, "PATCH_LIMIT_BYTES", 10)
    too_large = awo.inside("diff", order)
    assert too_large.code == 1 and "cannot be applied" in too_large.err, "patch_too_large"
    follow(awo, too_large.err)
    assert (awo.folder / order / "calc.py").read_text().endswith("x\n")

    words = awo.folder / "words.yaml"
    words.write_text("name: words\ntasks:\n  a: {uses: sandbox.exec, with: {argv: ['true']}}\n")
    request = ("run", "--repo", "repo", "--workflow", str(words), "--agent-command", "true")
    done = awo.inside(*request, "--json")
    bare = done.json["agent_work_order"]["agent_work_order_id"]
    follow(awo, refused(awo, "nothing_to_check_out", "checkout", bare))


def test_an_artifact_that_could_be_several_is_found_in_the_list(awo: Any) -> None:
    order, (one, other) = an_order(awo), alike()

    async def keep() -> None:
        async with open_house(setting.load(home=awo.home)) as house:
            for name, content in (("a.txt", one), ("b.txt", other)):
                await house.store.artifacts.put(order, "build", name, content, "text/plain", 1)

    asyncio.run(keep())
    hashes = [hashlib.sha256(content).hexdigest() for content in (one, other)]
    hint = refused(awo, "artifact_ambiguous", "artifacts", order, hashes[0][:4])
    [listed] = follow(awo, hint, ORDER=order)
    assert all(found[:12] in listed.out for found in hashes)
    assert awo.inside("artifacts", order, hashes[0][:12]).out == one.decode()
    assert awo.inside("artifacts", order, "b.txt").out == other.decode()


def alike() -> tuple[bytes, bytes]:
    """Two contents whose hashes begin with the same four digits, which is as few as are taken."""
    seen: dict[str, bytes] = {}
    for number in itertools.count():
        content = str(number).encode()
        before = seen.setdefault(hashlib.sha256(content).hexdigest()[:4], content)
        if before != content:
            return before, content
    raise AssertionError("never")


def test_what_the_directory_lacks_or_has_too_new(awo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = database.migrations()
    with monkeypatch.context() as before:
        before.setattr(database, "migrations", lambda: known[:-1])
        awo.home.mkdir(mode=0o700)
        older_one = database.connect(awo.home / "journal.db", synchronous="FULL")
        database.migrate(older_one, SystemClock())
        older_one.close()
    older = refused(awo, "schema_other", "list")
    assert _COMMAND.findall(older) == ["awo up"]
    stop(start_server(awo)[0])
    assert awo.inside("list").code == 0

    order = an_order(awo)
    backup = str(awo.folder / "kept.tar")
    follow(awo, refused(awo, "backup_missing", "restore", backup, "--to", "x"), FILE=backup)
    damage(awo, "UPDATE schema_version SET version = version + 900")
    hint = refused(awo, "schema_too_new", "list")
    assert refused(awo, "schema_too_new", "cancel", order) == hint
    awo.home.rename(awo.folder / "too-new")
    follow(awo, hint, BACKUP=backup, HOME=str(awo.home))
    assert awo.inside("show", order).code == 0


def damage(awo: Any, statement: str) -> None:
    with sqlite3.connect(awo.home / "journal.db") as connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()


def test_what_is_damaged_is_named(awo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    order = an_order(awo)
    damage(awo, "UPDATE orders SET title = 'another'")
    [line] = awo.inside("list", "--json").json["agent_work_orders"]
    assert line["error_code"] == "row_damaged"
    follow(awo, line["error_hint"])
    [line] = awo.inside("list", "--json").json["agent_work_orders"]
    assert line["error_code"] is None

    async def in_house(*, claim_again: bool) -> dict[str, str]:
        found = {}
        async with open_house(setting.load(home=awo.home)) as house:
            claimed = house.store.idempotency.claim(
                "me", "k", body_hash="b", order_id=order, at_ms=1
            )
            if not claim_again:
                await claimed
                return {}
            with pytest.raises(AgentWorkOrdersError) as key:
                await claimed
            monkeypatch.setattr(house.store.deliveries, "_limit", 0)
            with pytest.raises(AgentWorkOrdersError) as full:
                await house.store.deliveries.take("d", "push", b"{}", 1)
            for told in (key.value, full.value):
                found[told.code] = told.hint
        return found

    asyncio.run(in_house(claim_again=False))
    damage(awo, "UPDATE idempotency_keys SET order_id = 'wo-other'")
    hints = asyncio.run(in_house(claim_again=True))
    assert set(hints) == {"idempotency_key_damaged", "intake_full"}
    assert order[:11] in follow(awo, hints["idempotency_key_damaged"])[0].out
    follow(awo, hints["intake_full"])

    damage(awo, "UPDATE events SET body = x'00' WHERE seq = 2")
    [told] = follow(awo, refused(awo, "run_quarantined", "retry", order), codes=(1,))
    assert order in told.out


def start_server(awo: Any, *more: str) -> tuple[subprocess.Popen[str], str]:
    process = awo.start("up", "--port", "0", *more, err=subprocess.DEVNULL)
    line = process.stdout.readline()
    assert "listens at http" in line
    return process, line.split()[-1]


def stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)


def test_what_came_back_from_github_is_no_code(awo: Any) -> None:
    process = awo.start("github", "setup", "--no-open", "--json")
    page = asked_at(process)
    with httpx.Client(base_url=page, trust_env=False) as browser:
        found = re.search(r"state=([\w-]+)", browser.get("/").text)
        assert found is not None
        back = browser.get("/callback", params={"state": found[1], "code": "no code"})
        assert back.status_code == 200
    out, _ = process.communicate(timeout=60)
    error = json.loads(out)["error"]
    assert (process.returncode, error["code"]) == (2, "github_code_invalid")
    [command] = _COMMAND.findall(error["hint"])
    # It begins again: with a page of its own, which waits for somebody at the browser.
    again = awo.start(*command.split()[1:])
    assert asked_at(again) != page
    stop(again)


def asked_at(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    line = process.stderr.readline()
    assert "Open http://127.0.0.1:" in line
    return line.split()[1]


def test_what_a_server_refuses(awo: Any) -> None:
    process, url = start_server(awo)
    try:
        with httpx.Client(base_url=url, trust_env=False) as client:
            port = url.rsplit(":", 1)[-1]

            def signed_in(link: str) -> dict[str, str]:
                body = {"token": link.partition("#")[2]}
                answer = client.post("/api/session", json=body)
                assert answer.status_code == 201, answer.text
                return {"X-AWO-Page": answer.json()["page_secret"]}

            old = {"Cookie": f"awo_session_{port}=old"}
            answers = [
                ("key_missing", client.get("/api/agent-work-orders")),
                ("session_ended", client.get("/api/agent-work-orders", headers=old)),
                ("link_invalid", client.post("/api/session", json={"token": "used"})),
                ("sign_in_choice", client.post("/api/session", json={})),
            ]
            for code, answer in answers:
                assert answer.json()["code"] == code, answer.text
                [done] = follow(awo, answer.json()["hint"])
                page = signed_in(done.out.strip())
                assert client.get("/api/agent-work-orders", headers=page).status_code == 200
                unproven = client.get("/api/agent-work-orders").json()
                assert unproven["code"] == "page_unproven"
                client.cookies.clear()
            signed_in(follow(awo, unproven["hint"])[0].out.strip())

        second = refused(awo, "data_directory_in_use", "up", "--port", "0")
        assert url in follow(awo, second)[0].out
        wrong = refused(awo, "api_key_invalid", "list", "--url", url, AWO_API_KEY="two words")
        [made] = follow(awo, wrong, NAME="bob")
        token = made.out.split()[-1]
        assert awo.inside("list", "--url", url, AWO_API_KEY=token).code == 0
        process.send_signal(signal.SIGSTOP)
        try:
            silent = refused(awo, "server_silent", "list")
        finally:
            process.send_signal(signal.SIGCONT)
        assert f"process {process.pid}" in follow(awo, silent)[0].out
    finally:
        stop(process)
    unreachable = refused(awo, "server_unreachable", "list", "--url", url)
    assert _COMMAND.findall(unreachable) == ["awo up"] and "--url" in unreachable
    assert awo.inside("list").code == 0  # without --url, as the hint says


def test_what_needs_a_server(awo: Any) -> None:
    awo.repository()
    exposed = refused(awo, "bind_needs_keys", "up", "--host", "0.0.0.0", "--port", "0")
    follow(awo, exposed, NAME="bob")
    process, _ = start_server(awo, "--host", "0.0.0.0")
    stop(process)
    detached = refused(awo, "server_needed", "run", "--repo", "repo", "--detach", "Go")
    opened = refused(awo, "server_needed", "open")
    for hint in (detached, opened):
        assert _COMMAND.findall(hint) == [f"awo up --home {awo.home}"]
    process, _ = start_server(awo, "--home", str(awo.home))
    try:
        assert awo.inside("open").code == 0
        agent = awo.agent("true")
        request = ("run", "--repo", "repo", "--agent-command", agent, "--detach", "Go")
        assert awo.inside(*request).code == 0
    finally:
        stop(process)


def test_what_was_typed_wrongly(awo: Any) -> None:
    done = awo("list", "--stat", "failed", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "usage")
    [shown] = follow(awo, done.json["error"]["hint"])
    assert "--status" in shown.out
