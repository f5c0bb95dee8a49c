"""A container engine, asked over its socket in the words of Docker's Engine API, which Podman
speaks too. Paths bear no version: each engine then answers in the newest that it knows, and what is
asked here is the same in all of them.

Every call: Environmental `sandbox_isolation_unavailable` when no engine answers at the socket;
`sandbox_setup_failed` with the engine's own words when it refuses.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from agent_work_orders.errors import Environmental
from agent_work_orders.sandbox_manager.inside.places import unavailable

if TYPE_CHECKING:
    import httpx

# A start takes 0.2 s; removal of a container that thrashes, a hundred times as long.
ANSWER_TIMEOUT_S = 60.0
LIST_TIMEOUT_S = 10.0
# A root file system of a few GB, unpacked to a slow disk.
IMPORT_TIMEOUT_S = 900.0
# What else takes a container away in the same moment has done it long before.
REMOVAL_TURNS, REMOVAL_TURN_S = 600, 0.05
_CHUNK_BYTES = 1024 * 1024
_WORDS_BYTES = 65_536
_STREAM_HEAD_BYTES = 8


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """One container of a list."""

    container_id: str
    labels: Mapping[str, str]


class Engine:
    """One engine. Holds no connection between calls, so it may be used from any event loop."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._own_users: bool | None = None

    async def own_users(self) -> bool:
        """Whether its containers do not know this machine's users: it is rootless, or gives them
        others."""
        if self._own_users is None:
            info = await self._asked("GET", "/info")
            words = [str(word) for word in info.get("SecurityOptions") or ()]
            self._own_users = any("rootless" in word or "userns" in word for word in words)
        return self._own_users

    async def image_id(self, name: str) -> str | None:
        """None: the engine does not have it. Nothing is fetched."""
        response = await self._send("GET", f"/images/{quote(name, safe='/:@')}/json", may={404})
        return None if response.status_code == 404 else str(response.json()["Id"])

    async def import_image(self, archive: Path, name: str) -> None:
        """A root file system's archive becomes an image without any configuration."""
        response = await self._send(
            "POST",
            "/images/create",
            # With its tag in the name: Podman does not hear of one beside it.
            params={"fromSrc": "-", "repo": name},
            content=_chunks(archive),
            timeout_s=IMPORT_TIMEOUT_S,
        )
        # The answer has begun before the import fails: its last line says so.
        for line in response.text.splitlines():
            said = json.loads(line) if line.startswith("{") else {}
            if "error" in said:
                raise _refused(str(said["error"]))

    async def create(self, name: str, configuration: Mapping[str, Any]) -> str:
        """The new container's id."""
        made = await self._asked(
            "POST", "/containers/create", params={"name": name}, json=dict(configuration)
        )
        return str(made["Id"])

    async def start(self, container_id: str) -> None:
        await self._send("POST", f"/containers/{container_id}/start")

    async def runs(self, container_id: str) -> bool:
        response = await self._send("GET", f"/containers/{container_id}/json", may={404})
        return response.is_success and bool(response.json()["State"]["Running"])

    async def words(self, container_id: str) -> str:
        """What it said last."""
        response = await self._send(
            "GET",
            f"/containers/{container_id}/logs",
            params={"stdout": "true", "stderr": "true", "tail": "20"},
            may={404, 409},
        )
        return _unframed(response.content[:_WORDS_BYTES]) if response.is_success else ""

    async def remove(self, container: str) -> None:
        """Kill it and take it away, by its id or name; when this returns nothing of it is there.
        No harm where there was none."""
        for _ in range(REMOVAL_TURNS):
            response = await self._send(
                "DELETE",
                f"/containers/{container}",
                # Podman asks politely first, and waits for that long.
                params={"force": "true", "v": "true", "timeout": "0"},
                may={404, 409, 500},
            )
            if response.status_code not in (409, 500):
                return
            # It ends in this moment, or somebody else removes it: Docker says 409, Podman 500.
            await asyncio.sleep(REMOVAL_TURN_S)
        raise _refused(_message(response))

    async def listed(self, label: str) -> list[Listed]:
        """Those that bear a label (`name` or `name=value`), also when they do not run."""
        response = await self._send(
            "GET",
            "/containers/json",
            params={"all": "true", "filters": json.dumps({"label": [label]})},
            # A server that starts waits for it.
            timeout_s=LIST_TIMEOUT_S,
        )
        return [
            Listed(container_id=one["Id"], labels=one.get("Labels") or {})
            for one in response.json() or ()
        ]

    async def _asked(self, method: str, path: str, **further: Any) -> dict[str, Any]:
        found: dict[str, Any] = (await self._send(method, path, **further)).json()
        return found

    async def _send(
        self,
        method: str,
        path: str,
        *,
        may: Collection[int] = (),
        timeout_s: float = ANSWER_TIMEOUT_S,
        **further: Any,
    ) -> httpx.Response:
        # Takes a tenth of a second to load, which only who has containers should wait for.
        import httpx

        try:
            async with httpx.AsyncClient(
                # Certificates, which a socket file has no use for, take 15 ms to load.
                transport=httpx.AsyncHTTPTransport(uds=self.path, verify=False),
                timeout=httpx.Timeout(timeout_s, connect=ANSWER_TIMEOUT_S),
                trust_env=False,
            ) as client:
                response = await client.request(method, f"http://engine{path}", **further)
        except (httpx.HTTPError, OSError) as error:
            raise self._silent(error) from error
        if response.is_success or response.status_code in (304, *may):
            return response
        raise _refused(_message(response))

    def _silent(self, error: Exception) -> Environmental:
        return unavailable(
            f"no container engine answers at {self.path} ({str(error) or type(error).__name__})",
            "Start the engine (`systemctl start docker`, or `systemctl start podman.socket`), let "
            "the server's user use its socket, or name another one in AWO_CONTAINER_SOCKETS.",
        )


async def _chunks(archive: Path) -> AsyncIterator[bytes]:
    with archive.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


def _message(response: httpx.Response) -> str:
    try:
        return str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        return f"status {response.status_code}"


def _refused(words: str) -> Environmental:
    return Environmental(
        "sandbox_setup_failed",
        f"The container engine refused: {words[:500]}",
        hint="The engine's words above say what it missed.",
    )


def _unframed(data: bytes) -> str:
    """Without the heads that say which stream the following bytes are of."""
    said = b""
    while len(data) >= _STREAM_HEAD_BYTES:
        size = int.from_bytes(data[4:_STREAM_HEAD_BYTES], "big")
        said += data[_STREAM_HEAD_BYTES : _STREAM_HEAD_BYTES + size]
        data = data[_STREAM_HEAD_BYTES + size :]
    return said.decode(errors="replace").strip()
