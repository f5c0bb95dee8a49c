"""What containers are made from: an image that the engine has, or a root file system's archive."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

from agent_work_orders.sandbox_manager.container.engine import Engine
from agent_work_orders.sandbox_manager.inside.places import unavailable

_REPOSITORY = "localhost/agent-work-orders"
_DIGEST_LETTERS = 32


class Image:
    """Of one server: the same on all of its engines."""

    def __init__(self, name: str, archive: str) -> None:
        """The archive counts where both are given."""
        self._name = name
        self._archive = Path(archive) if archive else None
        self._digested: tuple[tuple[int, int], str] | None = None
        self._importing = asyncio.Lock()

    async def on(self, engine: Engine) -> str:
        """Its id there; imported where it is an archive and not there yet. Environmental
        `sandbox_isolation_unavailable` with what is missing."""
        if self._archive is None:
            return await self._named(engine)
        async with self._importing:
            name = f"{_REPOSITORY}:{await asyncio.to_thread(self._digest, self._archive)}"
            if (found := await engine.image_id(name)) is None:
                await engine.import_image(self._archive, name)
                found = await engine.image_id(name)
        if found is None:
            raise unavailable(
                f"the engine at {engine.path} took {self._archive} and has no image of it",
                "Look at the engine's own log.",
            )
        return found

    async def _named(self, engine: Engine) -> str:
        if not self._name:
            raise unavailable(
                "it is not said what containers are made from",
                "Set AWO_CONTAINER_IMAGE to an image with python3 and git, or AWO_CONTAINER_ROOTFS "
                "to the archive of a root file system.",
            )
        found = await engine.image_id(self._name)
        if found is None:
            raise unavailable(
                f"the engine at {engine.path} has no image {self._name}",
                f"Fetch it: `docker pull {self._name}` or `podman pull {self._name}`.",
            )
        return found

    def _digest(self, archive: Path) -> str:
        """Of its content; taken anew when the file was changed."""
        try:
            state = archive.stat()
            known = (state.st_size, state.st_mtime_ns)
            if self._digested is None or self._digested[0] != known:
                with archive.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                self._digested = (known, digest[:_DIGEST_LETTERS])
        except OSError as error:
            raise unavailable(
                f"the root file system {archive} cannot be read ({error.strerror})",
                "Set AWO_CONTAINER_ROOTFS to an archive (tar) that the server can read.",
            ) from None
        return self._digested[1]
