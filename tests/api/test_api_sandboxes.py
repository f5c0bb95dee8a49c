"""Sandboxes over HTTP: looked at, entered and removed, and no work goes with them."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.api import sandbox_models
from agent_work_orders.bootstrap import House
from agent_work_orders.security.roles import LOCAL_OPERATOR
from agent_work_orders.work_orders import checkout, inspect

EDITED = """
name: edited
tasks:
  edit:
    uses: sandbox.exec
    with: {argv: [sh, -c, "echo edited >> file; echo made > new.txt"]}
  ask:
    needs: [edit]
    uses: agent.prompt
    with: {prompt: Do it}
    approval: {message: "Really?", expires: 1h}
"""
UNFINISHED = {"name": "command", "argv": ["sh", "-c", "echo half > half.md; sleep 60"]}


async def made(client: Any, sent: dict[str, Any]) -> str:
    answer = await client.post("/api/agent-work-orders", json=sent)
    return str(answer.json()["agent_work_order"]["agent_work_order_id"])


@pytest.fixture
async def edited(client: Any, order_body: Any, reach: Any) -> str:
    """An order that waits for a person, with edits in its sandbox that nothing committed."""
    order_id = await made(client, order_body(workflow_type=None, workflow_source=EDITED))
    await reach(client, order_id, "waiting")
    return order_id


@pytest.fixture
async def working(client: Any, order_body: Any, house: House) -> str:
    """An order whose agent has written half of its work and goes on."""
    order_id = await made(client, order_body(agent=UNFINISHED))
    async with asyncio.timeout(30):
        while not (house.settings.home / "workspaces" / order_id / "repo/half.md").exists():
            await asyncio.sleep(0.05)
    return order_id


async def ran(client: Any, wanted: str, *argv: str, **more: Any) -> tuple[bytes, bytes, Any]:
    """What a program printed, and how it ended."""
    answer = await client.post(f"/api/sandboxes/{wanted}/exec", json={"argv": argv, **more})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in answer.text.splitlines() if line]
    said = {"stdout": b"", "stderr": b""}
    for line in lines[:-1]:
        said[line["stream"]] += base64.b64decode(line["data"])
    return said["stdout"], said["stderr"], lines[-1]["end"]


async def problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert answer.json()["hint"]
    return dict(answer.json())


async def files_of(house: House, order_id: str, folder: Path) -> Path:
    await checkout.check_out(house.context, order_id, LOCAL_OPERATOR, folder)
    return folder


async def test_they_are_listed_and_shown(client: Any, edited: str) -> None:
    page = sandbox_models.SandboxList.model_validate((await client.get("/api/sandboxes")).json())
    [one] = page.sandboxes
    assert (page.total_count, page.has_more) == (1, False)
    assert (one.agent_work_order_id, one.status, one.in_use) == (edited, "ACTIVE", False)
    assert one.task_id == edited and one.expires_at > one.created_at
    assert one.connection_details == {"exec_url": f"/api/sandboxes/{one.id}/exec"}
    for wanted in (one.id, edited, edited[:12]):
        answer = await client.get(f"/api/sandboxes/{wanted}")
        shown = sandbox_models.SandboxAnswer.model_validate(answer.json()).sandbox
        assert shown.id == one.id and shown.disk_bytes and shown.head_sha
        assert str(Path("/")) + "repo" not in answer.text  # no path of this machine
    assert (await client.get("/sandbox/list")).json()["sandboxes"][0]["id"] == one.id


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"status": "ACTIVE"}, 1),
        ({"status": "TERMINATED"}, 0),
        ({"status": ["ACTIVE", "FAILED"]}, 1),
        ({"sandbox_type": "git_branch"}, 0),
        ({"offset": 1}, 0),
    ],
)
async def test_lists_are_filtered(client: Any, edited: str, query: Any, count: int) -> None:
    answer = (await client.get("/api/sandboxes", params=query)).json()
    assert len(answer["sandboxes"]) == count
    ours = {"agent_work_order_id": edited}
    assert (await client.get("/api/sandboxes", params=ours)).json()["total_count"] == 1


@pytest.mark.parametrize("way", ["delete", "post"])
async def test_removing_one_keeps_what_was_not_committed(
    client: Any, house: House, edited: str, tmp_path: Path, way: str
) -> None:
    sandbox_id = f"git_worktree-{edited}"
    path = {"delete": f"/api/sandboxes/{sandbox_id}", "post": f"/sandbox/{edited}/destroy"}[way]
    done = await client.request(way, path)
    gone = sandbox_models.SandboxDestroyed.model_validate(done.json())
    assert gone.message == "Sandbox terminated successfully" and gone.kept_sha
    assert gone.sandbox.status == "TERMINATED" and not gone.sandbox.connection_details
    assert not (house.settings.home / "workspaces" / edited).exists()
    assert (await client.get("/sandbox/list")).json()["sandboxes"] == []
    files = await files_of(house, edited, tmp_path / "mine")
    assert (files / "file").read_text() == "one\nedited\n"
    assert (files / "new.txt").read_text() == "made\n"
    diff, _ = await inspect.patch(house.context, edited, LOCAL_OPERATOR)
    assert b"+edited" in diff.text

    again = (await client.request(way, path)).json()
    assert again["message"] == "Sandbox already terminated" and again["kept_sha"] is None
    assert again["sandbox"] == gone.sandbox.model_dump(mode="json") | {
        name: again["sandbox"][name] for name in ("created_at", "expires_at")
    }
    rows = await house.context.store.audit.page(after=0, limit=100, order_id=edited)
    [noted] = [row for row in rows if row.what == "sandbox.destroy"]
    assert (noted.target, noted.details) == (sandbox_id, {"force": False})


async def test_an_order_goes_on_without_the_sandbox_that_was_removed(
    client: Any, edited: str, reach: Any
) -> None:
    await client.delete(f"/api/sandboxes/{edited}")
    [asked] = (await client.get("/api/approvals")).json()["approvals"]
    decision = {"comment": "", "subject_hash": asked["subject_hash"]}
    await client.post(f"/api/approvals/{asked['approval_id']}/approve", json=decision)
    await reach(client, edited, "completed")
    statuses = ["ACTIVE"]
    async with asyncio.timeout(30):
        while statuses != ["TERMINATED"]:
            listed = (await client.get("/api/sandboxes")).json()["sandboxes"]
            statuses = [one["status"] for one in listed]


async def test_one_in_use_is_removed_only_by_force(
    client: Any, house: House, working: str, tmp_path: Path
) -> None:
    shown = (await client.get(f"/api/sandboxes/{working}")).json()["sandbox"]
    assert shown["in_use"]
    await problem(await client.delete(f"/api/sandboxes/{working}"), 409, "sandbox_in_use")
    entered = await client.post(f"/api/sandboxes/{working}/exec", json={"argv": ["true"]})
    await problem(entered, 409, "sandbox_in_use")
    assert (house.settings.home / "workspaces" / working / "repo/half.md").exists()

    await client.post(f"/api/agent-work-orders/{working}/pause")
    done = await client.delete(f"/api/sandboxes/{working}", params={"force": True})
    assert done.status_code == 200, done.text
    assert done.json()["kept_sha"]
    assert not (house.settings.home / "workspaces" / working).exists()
    files = await files_of(house, working, tmp_path / "mine")
    assert (files / "half.md").read_text() == "half\n"
    _, kept = await inspect.work(house.context, working, LOCAL_OPERATOR)
    assert kept is not None and kept.task == "plan" and kept.sha == done.json()["kept_sha"]


async def test_unknown_ones(client: Any, edited: str) -> None:
    nobody = "wo-aaaaaaaaaaaaaaaa"
    for wanted, code in (
        (f"git_worktree-{nobody}", "sandbox_unknown"),
        (f"git_worktree-{edited}.tests-1", "sandbox_unknown"),
        (nobody, "order_unknown"),
        ("wo-zzzz", "order_unknown"),
    ):
        await problem(await client.get(f"/api/sandboxes/{wanted}"), 404, code)
        await problem(await client.delete(f"/api/sandboxes/{wanted}"), 404, code)
        await problem(await client.post(f"/sandbox/{wanted}/destroy"), 404, code)
        program = {"argv": ["true"]}
        await problem(await client.post(f"/api/sandboxes/{wanted}/exec", json=program), 404, code)


async def test_a_key_of_some_repositories_sees_only_theirs(
    client: Any, as_key: Any, edited: str, repository: Path, other_repository: Path
) -> None:
    sandbox_id = f"git_worktree-{edited}"
    async with as_key("admin", [other_repository]) as stranger:
        assert (await stranger.get("/api/sandboxes")).json()["total_count"] == 0
        assert (await stranger.get("/sandbox/list")).json()["sandboxes"] == []
        for wanted, code in ((sandbox_id, "sandbox_unknown"), (edited, "order_unknown")):
            await problem(await stranger.get(f"/api/sandboxes/{wanted}"), 404, code)
            await problem(await stranger.delete(f"/api/sandboxes/{wanted}"), 404, code)
            program = {"argv": ["true"]}
            entered = await stranger.post(f"/api/sandboxes/{wanted}/exec", json=program)
            await problem(entered, 404, code)
    async with as_key("viewer", [repository]) as viewer:
        assert (await viewer.get("/api/sandboxes")).json()["total_count"] == 1
        refused = await viewer.delete(f"/api/sandboxes/{sandbox_id}")
        await problem(refused, 403, "role_insufficient")
        entered = await viewer.post(f"/api/sandboxes/{edited}/exec", json={"argv": ["true"]})
        await problem(entered, 403, "role_insufficient")
    async with as_key("operator", [repository]) as operator:
        assert (await operator.delete(f"/api/sandboxes/{sandbox_id}")).status_code == 200


async def test_a_program_runs_inside(client: Any, house: House, edited: str) -> None:
    out, err, end = await ran(client, edited, "sh", "-c", "cat file; echo no >&2; exit 7")
    assert (out, err) == (b"one\nedited\n", b"no\n")
    assert (end["exit_code"], end["ended"], end["temporary"]) == (7, "exited", False)
    _, _, end = await ran(client, f"git_worktree-{edited}", "sh", "-c", "kill -9 $$")
    assert (end["exit_code"], end["signal"]) == (None, 9)
    _, _, end = await ran(client, edited, "sleep", "60", timeout_s=0.2)
    assert end["ended"] == "timed_out"
    raw, _, _ = await ran(client, edited, "printf", r"\033]0;x\007\377")
    assert raw == b"\x1b]0;x\x07\xff"
    rows = await house.context.store.audit.page(after=0, limit=100, order_id=edited)
    assert [row.details["argv"] for row in rows if row.what == "sandbox.exec"][2] == "sleep 60"


async def test_a_program_that_cannot_run_is_a_problem(client: Any, edited: str) -> None:
    path = f"/api/sandboxes/{edited}/exec"
    missing = await client.post(path, json={"argv": ["no-such-program"]})
    await problem(missing, 503, "executable_missing")
    await problem(await client.post(path, json={"argv": [""]}), 400, "argv_invalid")
    await problem(await client.post(path, json={"argv": ["a\0b"]}), 400, "text_invalid")
    await problem(await client.post(path, json={"argv": []}), 422, "request_invalid")


async def test_a_program_ends_when_who_asked_for_it_leaves(
    client: Any, house: House, edited: str
) -> None:
    beat = house.settings.home / "workspaces" / edited / "repo/beat"
    program = {"argv": ["sh", "-c", "while :; do echo >> beat; sleep 0.05; done"]}
    asking = asyncio.ensure_future(client.post(f"/api/sandboxes/{edited}/exec", json=program))
    async with asyncio.timeout(30):
        while not beat.exists():
            await asyncio.sleep(0.05)
    busy = await client.delete(f"/api/sandboxes/{edited}")
    await problem(busy, 409, "sandbox_in_use")
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    async with asyncio.timeout(30):
        while house.context.sandboxes.locks.users(edited):
            await asyncio.sleep(0.05)
    size = beat.stat().st_size
    await asyncio.sleep(0.3)
    assert beat.stat().st_size == size


async def test_an_order_that_ended_is_entered_in_a_sandbox_of_its_last_commit(
    client: Any, house: House, order_body: Any, reach: Any
) -> None:
    order_id = await made(client, order_body())
    await reach(client, order_id, "completed")
    async with asyncio.timeout(30):
        while (house.settings.home / "workspaces" / order_id).exists():
            await asyncio.sleep(0.05)
    out, _, end = await ran(client, order_id, "sh", "-c", "cat plan.md; git status --short")
    assert out == b"# Plan\n" and end["temporary"]
    assert list((house.settings.home / "workspaces").iterdir()) == []
    shown = (await client.get("/api/sandboxes", params={"status": "ACTIVE"})).json()
    assert shown["sandboxes"] == []


async def test_what_was_kept_of_a_removed_sandbox_is_entered_again(
    client: Any, edited: str
) -> None:
    await client.delete(f"/api/sandboxes/{edited}")
    out, _, end = await ran(client, edited, "sh", "-c", "cat new.txt; git status --short")
    assert end["temporary"] and out == b"made\nM  file\nA  new.txt\n"


async def test_an_order_that_has_not_begun_has_none(
    client: Any, order_body: Any, scripts: Any, reach: Any
) -> None:
    order_id = await made(client, order_body(workflow_type=None, workflow_source=scripts["gated"]))
    await reach(client, order_id, "waiting")
    await problem(await client.get(f"/api/sandboxes/{order_id}"), 404, "sandbox_unknown")
    entered = await client.post(f"/api/sandboxes/{order_id}/exec", json={"argv": ["true"]})
    await problem(entered, 409, "sandbox_not_made")


async def test_a_terminal_takes_keys_from_who_opened_it(
    client: Any, app: Any, house: House, as_key: Any, edited: str
) -> None:
    script = "stty -echo size; echo > ready; read x; echo got $x; stty size; read y; exit 3"
    sent = {"argv": ["sh", "-c", script], "rows": 30, "columns": 90}
    asking = asyncio.ensure_future(client.post(f"/api/sandboxes/{edited}/terminal", json=sent))
    async with asyncio.timeout(30):
        while not (house.settings.home / "workspaces" / edited / "repo/ready").exists():
            await asyncio.sleep(0.02)
    [terminal_id] = app.state.terminals
    path = f"/api/terminals/{terminal_id}"
    keys = {"keys": base64.b64encode(b"it\n").decode(), "rows": 31, "columns": 91}
    async with as_key("admin") as other, as_key("viewer") as viewer:
        await problem(await other.post(path, json=keys), 404, "terminal_unknown")
        await problem(await viewer.post(path, json=keys), 403, "role_insufficient")
    assert (await client.post(path, json=keys)).json() == {"taken": True}
    await client.post(path, json={"keys": base64.b64encode(b"\n").decode()})
    answer = await asking
    lines = [json.loads(line) for line in answer.text.splitlines() if line]
    assert lines[0] == {"terminal": terminal_id} and lines[-1]["end"]["exit_code"] == 3
    text = b"".join(base64.b64decode(one["data"]) for one in lines[1:-1])
    assert b"30 90" in text and b"got it" in text and b"31 91" in text
    await problem(await client.post(path, json=keys), 404, "terminal_unknown")


async def test_a_terminal_that_cannot_be_is_refused(client: Any, edited: str) -> None:
    path = f"/api/sandboxes/{edited}/terminal"
    for bad in ({"rows": 0}, {"kind": "../x"}, {"argv": []}, {"keys": "?"}):
        await problem(await client.post(path, json=bad), 422, "request_invalid")
    none = await client.post(f"/api/sandboxes/{edited}.tests-1/terminal", json={})
    await problem(none, 404, "order_unknown")
