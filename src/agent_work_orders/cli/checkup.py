"""What `awo doctor` looks at. Each check is a value; none of them changes anything."""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from agent_work_orders.agent_executor import claude_mcp
from agent_work_orders.cli import store_checkup
from agent_work_orders.cli.store_checkup import Finding
from agent_work_orders.clock import SystemClock
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.settings import Settings

# The first git that knows safe.bareRepository, which the mirrors rely on.
OLDEST_GIT = (2, 38)
LOW_DISK_BYTES = 1024**3
NO_DISK_BYTES = 100 * 1024**2


async def examine(settings: Settings) -> list[Finding]:
    found = [_python(), _git(), *_directory(settings.home), _disk(settings.home)]
    found += [one async for one in store_checkup.examine(settings.home)]
    found += list(_agents(settings))
    found += [one async for one in _github(settings)]
    found += list(_webhooks(settings))
    found.append(await _protection(settings))
    found += list(_leftovers(settings))
    return found


def _python() -> Finding:
    return Finding(
        check="python", status="ok", detail=f"{platform.python_version()} ({sys.executable})"
    )


def _git() -> Finding:
    try:
        done = subprocess.run(
            ["git", "--version"], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return Finding(check="git", status="error", detail="not found", hint="Install git.")
    match = re.search(r"(\d+)\.(\d+)", done.stdout)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if version < OLDEST_GIT:
        wanted = ".".join(map(str, OLDEST_GIT))
        return Finding(
            check="git", status="error", detail=done.stdout.strip(), hint=f"Use {wanted} or newer."
        )
    return Finding(check="git", status="ok", detail=done.stdout.strip())


def _directory(home: Path) -> Iterator[Finding]:
    from agent_work_orders.state_manager import lock

    if not home.exists():
        yield Finding(check="data directory", status="ok", detail=f"{home} (not made yet)")
        return
    found = home.stat()
    mode = stat.S_IMODE(found.st_mode)
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        yield Finding(
            check="data directory",
            status="error",
            detail=f"{home} is not writable for this user",
            hint="Use the user that owns it, or another AWO_HOME.",
        )
    elif mode & 0o066:
        yield Finding(
            check="data directory",
            status="warning",
            detail=f"{home} is open to other users (mode {mode:o})",
            hint=f"chmod 711 {home}",
        )
    else:
        yield Finding(check="data directory", status="ok", detail=f"{home} (mode {mode:o})")
    key = home / "local.key"
    if key.exists() and stat.S_IMODE(key.stat().st_mode) & 0o077:
        yield Finding(
            check="local key",
            status="error",
            detail=f"{key} can be read by other users",
            hint=f"chmod 600 {key}, and delete it to get a new one if others may have seen it.",
        )
    owner = lock.read_owner(home)
    if owner is None:
        yield Finding(check="server", status="ok", detail="none is running here")
    else:
        at = owner.url or "not listening"
        since = f"process {owner.pid} since {owner.started_at}"
        yield Finding(check="server", status="ok", detail=f"{at}, {since}")


def _disk(home: Path) -> Finding:
    place = home
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    detail = f"{free / 1024**3:.1f} GiB free for {home}"
    if free < NO_DISK_BYTES:
        return Finding(check="disk", status="error", detail=detail, hint="Free space.")
    if free < LOW_DISK_BYTES:
        return Finding(check="disk", status="warning", detail=detail, hint="Free space soon.")
    return Finding(check="disk", status="ok", detail=detail)


def _agents(settings: Settings) -> Iterator[Finding]:
    from agent_work_orders.agent_executor.registry import Registry
    from agent_work_orders.bootstrap.surroundings import claude

    known = claude(settings)
    missing = Registry(SystemClock(), claude=known).create({"name": "claude_code"}).check()
    if missing is None:
        way = (known.sign_in.way or "nothing but an address").replace("_", " ")
        servers = len(claude_mcp.servers(known.mcp_config)) if known.mcp_config else 0
        detail = f"can run; signs in with: {way}" + (f"; MCP servers: {servers}" if servers else "")
        yield Finding(check="agent claude_code", status="ok", detail=detail)
    else:
        yield Finding(
            check="agent claude_code",
            status="warning",
            detail=missing,
            hint="Needed only for orders with this agent.",
        )
    yield Finding(check="agent command", status="ok", detail="any program, by --agent-command")
    yield Finding(check="agent scripted", status="ok", detail="needs nothing")


async def _github(settings: Settings) -> AsyncIterator[Finding]:
    """Asks GitHub; a machine without a way there is told so, and is not broken for it."""
    from agent_work_orders.bootstrap import github
    from agent_work_orders.cli import github_setup

    try:
        whole = await github_setup.kept(settings)
    except AgentWorkOrdersError:
        return  # the store's own checks say what is wrong there
    for one in await github.check(whole, SystemClock()):
        yield Finding(check=one.about, status=one.status, detail=one.detail, hint=one.hint)


def _webhooks(settings: Settings) -> Iterator[Finding]:
    """GitHub repeats no delivery by itself, and lets only an App ask for one again."""
    if not settings.github.app_id and not settings.github.token:
        return
    if not settings.github.webhook_secret:
        yield Finding(
            check="GitHub's webhooks",
            status="warning",
            detail="none is taken: there is no secret to check them by",
            hint="Set GITHUB_WEBHOOK_SECRET, unless orders are only made here.",
        )
    elif settings.github.app_id:
        yield Finding(
            check="GitHub's webhooks", status="ok", detail="missed ones are asked for again"
        )
    else:
        yield Finding(
            check="GitHub's webhooks",
            status="warning",
            detail="what comes while the server is down is missed: a plain token cannot ask for it",
            hint="Use a GitHub App, or redeliver from the webhook's page after an outage.",
        )


async def _protection(settings: Settings) -> Finding:
    from agent_work_orders.repositories.git import Git
    from agent_work_orders.repositories.mirrors import Mirrors
    from agent_work_orders.sandbox_manager.local.agent_user import agent_users
    from agent_work_orders.sandbox_manager.local.sandboxes import LocalSandboxes

    with tempfile.TemporaryDirectory(prefix="awo-doctor-") as folder:
        home = Path(folder)
        mirrors = Mirrors(home / "mirrors", Git())
        try:
            users = agent_users(settings.agents.agent_uid)
            sandboxes = LocalSandboxes(home, mirrors, SystemClock(), users=users)
        except AgentWorkOrdersError as error:
            return Finding(check="sandboxes", status="error", detail=error.message, hint=error.hint)
        try:
            await sandboxes.start()
            found = sandboxes.protection()
        except AgentWorkOrdersError as error:
            return Finding(check="sandboxes", status="error", detail=error.message, hint=error.hint)
        finally:
            sandboxes.close()
    return Finding(check="sandboxes", status=found.status, detail=found.detail, hint=found.hint)


def _leftovers(settings: Settings) -> Iterator[Finding]:
    from agent_work_orders.sandbox_manager.local.processes import home_tag, tagged
    from agent_work_orders.state_manager import lock

    if not settings.home.exists() or lock.read_owner(settings.home) is not None:
        return
    left = tagged(home_tag(settings.home))
    if left:
        yield Finding(
            check="processes",
            status="warning",
            detail=f"{len(left)} left by a server that died: {', '.join(map(str, left[:10]))}",
            hint="The next start ends them.",
        )
    else:
        yield Finding(check="processes", status="ok", detail="none left behind")
