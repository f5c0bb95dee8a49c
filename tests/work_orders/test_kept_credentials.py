"""Kept credentials: sealed at rest, used at the next start, readable whenever a rotation stops."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from agent_work_orders import settings as setting
from agent_work_orders.bootstrap import open_house, open_upkeep
from agent_work_orders.errors import AgentWorkOrdersError, Broken, Environmental, NotFound, Refused
from agent_work_orders.security import vault
from agent_work_orders.state_manager.sqlite.store import SqliteStore
from agent_work_orders.work_orders import credentials
from agent_work_orders.work_orders.context import Context

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
ONE, TWO = "b25l" * 10 + "b25=", "dHdv" * 10 + "dHc="


@pytest.fixture
async def context(tmp_path: Path) -> AsyncIterator[Context]:
    async with open_upkeep(setting.load({}, home=tmp_path)) as opened:
        yield opened


async def read(context: Context, keys: str = "") -> dict[str, str]:
    return dict(
        credentials.opened(context.home, list(await context.store.credentials.all()), keys=keys)
    )


@pytest.mark.fault("I5")
async def test_only_the_end_of_it_is_shown(context: Context) -> None:
    kept = await credentials.keep(context, "GITHUB_TOKEN", TOKEN)
    assert (kept.name, kept.last4) == ("GITHUB_TOKEN", TOKEN[-4:])
    assert await read(context) == {"GITHUB_TOKEN": TOKEN}
    files = [path for path in context.home.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"journal.db", "secret.key"}
    assert [path for path in files if TOKEN[:-4].encode() in path.read_bytes()] == []
    assert TOKEN not in str(await context.store.audit.page(limit=100))
    assert (context.home / "secret.key").stat().st_mode & 0o777 == 0o600
    await credentials.remove(context, "GITHUB_TOKEN")
    assert await read(context) == {}
    with pytest.raises(NotFound):
        await credentials.remove(context, "GITHUB_TOKEN")
    done = [row.what for row in await context.store.audit.page(limit=100)]
    assert sorted(done) == ["credential.remove", "credential.set"]


@pytest.mark.fault("I3")
@pytest.mark.parametrize(
    "secret", ["", "tiny42", "       a", "aaaaaaaaaaaa", "Password", "x" * 40_000]
)
async def test_what_cannot_be_redacted_is_refused(context: Context, secret: str) -> None:
    with pytest.raises(Refused) as refused:
        await credentials.keep(context, "GITHUB_TOKEN", secret)
    assert refused.value.code == "credential_weak"
    assert secret[:20] not in str(refused.value) or not secret
    assert await read(context) == {}


@pytest.mark.fault("I4")
async def test_exchanged_rows_and_other_keys_are_found_out(context: Context) -> None:
    await credentials.keep(context, "GITHUB_TOKEN", TOKEN)
    await credentials.keep(context, "ANTHROPIC_API_KEY", "sk-ant-0123456789")
    one, two = await context.store.credentials.all()
    await context.store.credentials.put(msgspec.structs.replace(one, sealed=two.sealed))
    with pytest.raises(Broken, match="damaged"):
        await read(context)
    await context.store.credentials.put(one)
    with pytest.raises(Environmental, match="is not here"):
        await read(context, keys=ONE)
    shutil.move(context.home / "secret.key", context.home / "elsewhere")
    with pytest.raises(Environmental, match="is not there"):
        await read(context)
    assert not (context.home / "secret.key").exists(), "none is made to look at what is there"


async def test_a_rotation_leaves_nothing_to_the_old_key(context: Context) -> None:
    await credentials.keep(context, "GITHUB_TOKEN", TOKEN)
    old, sealed = vault.key_file(context.home), (await context.store.credentials.all())[0].sealed
    assert await credentials.rotate(context) == 1
    new = vault.key_file(context.home)
    assert len(new) == 1 and new != old
    assert (await context.store.credentials.all())[0].sealed != sealed
    with pytest.raises(Environmental):
        vault.Vault(old).open("GITHUB_TOKEN", (await context.store.credentials.all())[0].sealed)
    assert await read(context) == {"GITHUB_TOKEN": TOKEN}


async def test_keys_of_the_environment_are_turned_by_the_operator(context: Context) -> None:
    await credentials.keep(context, "GITHUB_TOKEN", TOKEN, keys=ONE)
    assert not (context.home / "secret.key").exists()
    with pytest.raises(Refused, match="one key"):
        await credentials.rotate(context, keys=ONE)
    assert await credentials.rotate(context, keys=f"{TWO},{ONE}") == 1
    assert await credentials.rotate(context, keys=f"{TWO},{ONE}") == 0
    assert await read(context, keys=TWO) == {"GITHUB_TOKEN": TOKEN}


ROTATE = """
import asyncio, os, sys
from pathlib import Path
from agent_work_orders import settings
from agent_work_orders.bootstrap import open_upkeep
from agent_work_orders.security.vault import Vault
from agent_work_orders.work_orders import credentials
seal, sealed = Vault.seal, []
def last_breath(self, row, secret):
    sealed.append(row)
    if len(sealed) == 2 and sys.argv[2:]:
        os.kill(os.getpid(), 9)
    return seal(self, row, secret)
Vault.seal = last_breath
async def main():
    async with open_upkeep(settings.load({}, home=Path(sys.argv[1]))) as context:
        await credentials.rotate(context)
asyncio.run(main())
"""
# A draft is synced, renamed, and its folder synced, twice. The last ones come never.
MOMENTS = ["", *(f"fsync {k}" for k in range(1, 6)), *(f"rename {k}" for k in range(1, 4))]


@pytest.mark.slow
@pytest.mark.fault("A8")
async def test_a_kill_anywhere_in_a_rotation_keeps_every_credential(tmp_path: Path) -> None:
    """One directory, killed in the transaction and at every step of both changes of the key file:
    what one kill left is where the next attempt begins."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace: apt-get install strace")
    home = tmp_path / "home"
    secrets = {"GITHUB_TOKEN": TOKEN, "ANTHROPIC_API_KEY": "sk-ant-0123456789"}
    async with open_upkeep(setting.load({}, home=home)) as context:
        for name, secret in secrets.items():
            await credentials.keep(context, name, secret)
    watched = ["-P", f"{home}/secret.making", "-P", f"{home}/secret.key", "-P", str(home)]
    left = {}
    for moment in MOMENTS:
        call, _, k = moment.partition(" ")
        calls = f"{call},renameat,renameat2" if call == "rename" else call
        injected = ["-e", f"trace={calls}", "-e", f"inject={calls}:signal=KILL:when={k}"]
        tracing = [strace, "-f", "-qq", "-o", os.devnull, *watched, *injected] if call else []
        done = subprocess.run(
            [*tracing, sys.executable, "-c", ROTATE, str(home), *([] if call else ["die"])],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=False,
        )
        assert done.returncode in (0, -signal.SIGKILL, 128 + signal.SIGKILL), done.stderr
        left[moment] = len(vault.key_file(home)) if done.returncode else 0
        async with open_upkeep(setting.load({}, home=home)) as context:
            assert await read(context) == secrets, moment
    assert [moment for moment, keys in left.items() if not keys] == ["fsync 5", "rename 3"]
    assert set(left.values()) == {0, 1, 2}, left
    assert len(vault.key_file(home)) == 1


async def test_they_are_used_where_the_environment_has_none(tmp_path: Path) -> None:
    bare = setting.load({}, home=tmp_path)
    async with open_upkeep(bare) as context:
        await credentials.keep(context, "ANTHROPIC_API_KEY", "sk-ant-kept-0123456789")
        await credentials.keep(context, "GITHUB_WEBHOOK_SECRET", "one-secret,two-secret")
    async with open_house(bare) as house:
        assert house.settings.agents.anthropic_api_key == "sk-ant-kept-0123456789"
        assert house.settings.github.webhook_secret == ("one-secret", "two-secret")
        assert house.context.redact("say two-secret") == "say [redacted]"
    given = setting.load({"ANTHROPIC_API_KEY": "sk-ant-given-0123456789"}, home=tmp_path)
    async with open_house(given) as house:
        assert house.settings.agents.anthropic_api_key == "sk-ant-given-0123456789"


async def test_a_server_that_cannot_open_them_does_not_start(tmp_path: Path) -> None:
    bare = setting.load({}, home=tmp_path)
    async with open_upkeep(bare) as context:
        await credentials.keep(context, "ANTHROPIC_API_KEY", "sk-ant-kept-0123456789")
    (tmp_path / "secret.key").unlink()
    with pytest.raises(AgentWorkOrdersError) as refused:
        async with open_house(bare):
            pass
    assert refused.value.code == "secret_key_missing"
    store = SqliteStore.open(tmp_path, context.clock)
    await store.close()
