"""What is made of an engine's answers, with an engine that answers as it is told. What a real one
does, test_local_conformance.py and test_container.py show."""

from __future__ import annotations

import asyncio
import json
import tarfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from agent_work_orders.errors import Environmental
from agent_work_orders.sandbox_manager.bubblewrap.sandboxes import BoxedSandboxes
from agent_work_orders.sandbox_manager.container.configuration import HOME_LABEL
from agent_work_orders.sandbox_manager.container.containers import (
    ContainerOptions,
    container_places,
)
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType

IMAGE = "example/image"
# Method and path -> status and body. A list is answered one by one, the last for ever.
Answers = dict[str, Any]


class Engine:
    """Answers over HTTP, one request a connection."""

    def __init__(self, path: Path, answers: Answers) -> None:
        self.path = str(path)
        self.answers = answers
        self.asked: list[tuple[str, bytes]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.split(" ", 2)
        self.asked.append((f"{method} {target}", await _body(head, reader)))
        answer = self.answers.get(f"{method} {target.partition('?')[0]}", (404, {}))
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        status, said = answer
        content = json.dumps(said).encode()
        writer.write(f"HTTP/1.1 {status} .\r\nContent-Length: {len(content)}\r\n".encode())
        writer.write(b"Content-Type: application/json\r\nConnection: close\r\n\r\n" + content)
        await writer.drain()
        writer.close()

    def times(self, beginning: str) -> int:
        return sum(line.startswith(beginning) for line, _ in self.asked)


async def _body(head: str, reader: asyncio.StreamReader) -> bytes:
    fields = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if line)
    if "content-length" in fields:
        return await reader.readexactly(int(fields["content-length"]))
    content = b""
    while fields.get("transfer-encoding") == "chunked":
        size = int((await reader.readline()).strip(), 16)
        content += (await reader.readexactly(size + 2))[:size]
        if size == 0:
            break
    return content


Make = Callable[..., Awaitable[Engine]]


@pytest.fixture
async def engine(folder: Path) -> AsyncIterator[Make]:
    servers = []

    async def make(**more: Any) -> Engine:
        answers = {
            "GET /info": (200, {"SecurityOptions": ["name=seccomp"]}),
            "GET /containers/json": (200, []),
            f"GET /images/{IMAGE}/json": (200, {"Id": "sha256:1"}),
            "POST /containers/create": (500, {"message": "no room"}),
            **more.get("answers", {}),
        }
        made = Engine(folder / f"e{len(servers)}.sock", answers)
        servers.append(await asyncio.start_unix_server(made.serve, made.path))
        return made

    yield make
    for server in servers:
        server.close()


Try = Callable[..., Awaitable[Environmental]]


@pytest.fixture
def sandbox_type() -> SandboxType:
    return "git_worktree"


@pytest.fixture
def tried(bench: Any) -> Try:
    """Why no container can be made with some options."""

    async def make(engines: Iterable[Engine | Path], **options: Any) -> Environmental:
        sockets = [getattr(one, "path", None) or str(one) for one in engines]
        found = await places(bench, ContainerOptions(sockets=sockets, **options)).problem(
            "container"
        )
        assert found is not None
        return found

    return make


def places(bench: Any, options: ContainerOptions) -> BoxedSandboxes:
    sandboxes = bench.sandboxes
    return BoxedSandboxes(
        bench.home, sandboxes.mirrors, sandboxes._host.clock, beside=container_places(options)
    )


@pytest.mark.fault("H6")
async def test_what_is_missing_is_said(engine: Make, tried: Try, folder: Path) -> None:
    there = await engine()
    cases = [
        (await tried([]), "no container engine is named", "AWO_CONTAINER_SOCKETS"),
        (await tried([folder / "none.sock"]), "none.sock", "Start the engine"),
        (await tried([there]), "what containers are made from", "AWO_CONTAINER_IMAGE"),
        (await tried([there], image="other"), "no image other", "pull other"),
        (await tried([there], archive="/nonexistent.tar"), "/nonexistent.tar", "ROOTFS"),
    ]
    for found, told, hint in cases:
        assert found.code == "sandbox_isolation_unavailable"
        assert told in found.message and hint in found.hint, found


@pytest.mark.parametrize("word", ["name=rootless", "name=userns"])
async def test_an_engine_with_users_of_its_own_is_refused(
    engine: Make, tried: Try, word: str
) -> None:
    own = await engine(answers={"GET /info": (200, {"SecurityOptions": [word]})})
    found = await tried([own], image=IMAGE)
    assert found.code == "sandbox_isolation_unavailable" and "users of its own" in found.message
    assert own.times("POST") == 0


async def test_the_engines_words_are_told(engine: Make, tried: Try) -> None:
    found = await tried([await engine()], image=IMAGE)
    assert (found.code, "no room" in found.message) == ("sandbox_setup_failed", True)


async def test_an_image_without_python_says_so(engine: Make, tried: Try) -> None:
    refusal = {"message": 'exec: "python3": executable file not found in $PATH'}
    made = await engine(
        answers={
            "POST /containers/create": (201, {"Id": "c1"}),
            "POST /containers/c1/start": (400, refusal),
            "DELETE /containers/c1": (204, None),
        }
    )
    found = await tried([made], image=IMAGE)
    assert found.code == "sandbox_isolation_unavailable"
    assert "no python3" in found.message and "python3-minimal" in found.hint
    assert made.times("DELETE /containers/c1?") == 1


async def test_what_ends_at_once_tells_its_last_words(engine: Make, tried: Try) -> None:
    made = await engine(
        answers={
            "POST /containers/create": (201, {"Id": "c1"}),
            "POST /containers/c1/start": (204, None),
            "GET /containers/c1/json": (200, {"State": {"Running": False}}),
            "DELETE /containers/c1": (204, None),
        }
    )
    found = await tried([made], image=IMAGE)
    assert found.code == "sandbox_setup_failed" and "ended at its start" in found.message
    assert made.times("GET /containers/c1/logs") == 1


async def test_the_least_loaded_engine_that_answers_is_taken(
    engine: Make, tried: Try, folder: Path
) -> None:
    two = [{"Id": name, "Labels": {HOME_LABEL: "x"}} for name in ("a", "b")]
    busy = await engine(answers={"GET /containers/json": (200, two)})
    idle = await engine(answers={"GET /containers/json": (200, two[:1])})
    await tried([busy, folder / "none.sock", idle], image=IMAGE)
    assert (busy.times("POST"), idle.times("POST /containers/create")) == (0, 1)
    asked = next(line for line, _ in busy.asked if "/containers/json" in line)
    assert "all=true" in asked and HOME_LABEL in asked


async def test_an_archive_is_imported_once_and_again_when_it_changed(
    engine: Make, tried: Try, folder: Path
) -> None:
    archive = folder / "root.tar"
    with tarfile.open(archive, "w") as file:
        file.add(__file__, "etc/os-release")
    made = await engine(answers={"POST /images/create": (200, {"status": "sha256:2"})})
    await tried([made], archive=str(archive))
    (line, content), *_ = [one for one in made.asked if one[0].startswith("POST /images")]
    assert content == archive.read_bytes()
    name = unquote(line).partition("repo=")[2].partition(" ")[0]
    made.answers[f"GET /images/{name}/json"] = (200, {"Id": "sha256:2"})
    await tried([made], archive=str(archive))
    assert made.times("POST /images/create") == 1
    created = [body for asked, body in made.asked if asked.startswith("POST /containers/create")]
    assert json.loads(created[0])["Image"] == "sha256:2"
    archive.write_bytes(archive.read_bytes() + b"\0" * 512)
    await tried([made], archive=str(archive))
    assert made.times("POST /images/create") == 2


async def test_an_import_that_failed_after_it_began(engine: Make, tried: Try, folder: Path) -> None:
    archive = folder / "root.tar"
    archive.write_bytes(b"no archive")
    made = await engine(answers={"POST /images/create": (200, {"error": "not a tar"})})
    found = await tried([made], archive=str(archive))
    assert found.code == "sandbox_setup_failed" and "not a tar" in found.message


async def test_only_what_is_ours_is_swept(engine: Make, bench: Any) -> None:
    left = [{"Id": "c9", "Labels": None}]
    made = await engine(
        answers={
            "GET /containers/json": (200, left),
            # It ends just then; gone the next time.
            "DELETE /containers/c9": [(409, {}), (500, {}), (204, None)],
        }
    )
    options = ContainerOptions(sockets=["/nonexistent.sock", made.path], image=IMAGE)
    await places(bench, options).sweep()
    asked = next(unquote(line) for line, _ in made.asked if "/containers/json" in line)
    assert f'["{HOME_LABEL}={bench.sandboxes._host.tag}"]' in asked
    assert made.times("DELETE /containers/c9?") == 3


async def test_what_a_container_is_not_given(engine: Make, tried: Try) -> None:
    made = await engine()
    await tried([made], image=IMAGE)
    (body,) = [body for asked, body in made.asked if asked.startswith("POST /containers/create")]
    given = json.loads(body)
    host = given["HostConfig"]
    assert (host["NetworkMode"], host["CapDrop"]) == ("none", ["ALL"])
    assert host["ReadonlyRootfs"] is True and host["SecurityOpt"] == ["no-new-privileges"]
    assert "Privileged" not in host and "CapAdd" not in host and "Devices" not in host
    writable = {mount["Target"] for mount in host["Mounts"] if not mount["ReadOnly"]}
    assert writable == {"/sandbox", "/tmp", "/var/tmp"}
    assert host["PidsLimit"] > 0
    assert given["User"] and given["User"].split(":")[0] != "0"
