"""Proofs of an App, tokens of installations: found, kept, shared, narrowed, renewed, revoked."""

from __future__ import annotations

import asyncio
import base64
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.utils import formatdate
from functools import cache
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from fake_time import FakeTime
from small_service import Heard, Reply, SmallService

from agent_work_orders.clock import iso
from agent_work_orders.errors import Environmental, Permanent, Refused
from agent_work_orders.github_integration.client import GithubClient
from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.github_integration.http.governor import DurableGovernor
from agent_work_orders.github_integration.http.one_request import Exchange
from agent_work_orders.github_integration.http.retrying import Retrying
from agent_work_orders.github_integration.identity import app_credentials
from agent_work_orders.github_integration.identity.app_credentials import EARLY_MS, AppCredentials
from agent_work_orders.github_integration.identity.app_key import AppKey
from agent_work_orders.github_integration.identity.credentials import Credentials, TokenCredentials
from agent_work_orders.github_integration.quota_memory import KeptQuota
from agent_work_orders.state_manager.sqlite.store import SqliteStore

HERE = Repository(key="k", full_name="acme/shop")
HOUR_MS = 3_600_000
Opened = Callable[..., Any]


@cache
def rsa_key(bits: int = 2048) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


def pem_of(key: Any) -> str:
    made: bytes = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return made.decode()


def opened_proof(proof: str) -> tuple[dict[str, Any], dict[str, Any]]:
    head, claims, signature = proof.split(".")
    raw = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in (head, claims)]
    signed = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    rsa_key().public_key().verify(
        signed, f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
    )
    return json.loads(raw[0]), json.loads(raw[1])


class Github:
    """As much of it as credentials need."""

    def __init__(self, time: FakeTime) -> None:
        self.time = time
        self.ahead_ms = 0
        self.installations = {"acme/shop": 42, "acme/other": 42, "beta/shop": 43}
        self.alive: set[str] = set()
        self.minted: list[dict[str, Any]] = []
        self.suspended = False
        self.refusing: Reply | None = None
        self.gate: asyncio.Event | None = None

    def now_ms(self) -> int:
        return self.time.wall_ms + self.ahead_ms

    async def __call__(self, heard: Heard) -> Reply:
        if self.gate is not None:
            await self.gate.wait()
        reply = self.answer(heard)
        stamp = self.now_ms() // 1000
        date = formatdate(stamp, usegmt=True)
        return Reply(
            status=reply.status, value=reply.value, headers={**reply.headers, "Date": date}
        )

    def answer(self, heard: Heard) -> Reply:
        path = heard.path
        if path.startswith("/app") or path.endswith("/installation"):
            _, claims = opened_proof(heard.token)
            now_s = self.now_ms() // 1000
            if claims["iat"] > now_s or not now_s < claims["exp"] <= now_s + 600:
                return Reply(status=401, value={"message": "'Expiration time' claim"})
            if claims["iss"] != "7":
                return Reply(status=404, value={"message": "Integration not found"})
        elif heard.token not in self.alive:
            return Reply(status=401, value={"message": "Bad credentials"})
        if self.refusing is not None:
            return self.refusing
        if path == "/app":
            return Reply(value={"slug": "robot"})
        if path.endswith("/installation"):
            found = self.installations.get(
                path.removeprefix("/repos/").removesuffix("/installation")
            )
            gone = Reply(status=404, value={"message": "Not Found"})
            return gone if found is None else Reply(value={"id": found})
        if path.endswith("/access_tokens"):
            return self.mint(int(path.split("/")[3]), heard)
        if path == "/installation/token":
            self.alive.discard(heard.token)
            return Reply(status=204)
        return Reply(value={"seen by": heard.token})

    def mint(self, installation: int, heard: Heard) -> Reply:
        if self.suspended:
            return Reply(status=403, value={"message": "This installation has been suspended"})
        if installation not in self.installations.values():
            return Reply(status=404, value={"message": "Not Found"})
        token = f"ghs_{len(self.minted):036d}"
        self.alive.add(token)
        self.minted.append({"installation": installation, **heard.json})
        wanted = heard.json.get("permissions", {"contents": "write", "issues": "read"})
        value = {
            "token": token,
            "expires_at": iso(self.now_ms() + HOUR_MS),
            "permissions": wanted,
        }
        return Reply(status=201, value=value)


class Scene:
    def __init__(self, **parts: Any) -> None:
        self.github: Github = parts["github"]
        self.service: SmallService = parts["service"]
        self.credentials: Credentials = parts["credentials"]
        self.client: GithubClient = parts["client"]
        self.learned: list[str] = parts["learned"]
        self.governor: DurableGovernor = parts["governor"]

    @property
    def paths(self) -> list[str]:
        return [f"{heard.method} {heard.path}" for heard in self.service.heard]


@pytest.fixture
def scene(store: SqliteStore, time: FakeTime) -> Opened:
    @asynccontextmanager
    async def opened(app_id: int = 7, **more: Any) -> AsyncIterator[Scene]:
        github = Github(time)
        async with SmallService(github) as service, Exchange(trusted=None) as exchange:
            chance = random.Random(3)
            memory = await KeptQuota.opened(store.quota)
            governor = DurableGovernor(memory, time, chance=chance, sleep=time.sleep)
            asking = Retrying(
                exchange, governor, time, api_url=service.url, chance=chance, sleep=time.sleep
            )
            learned: list[str] = []
            key = AppKey(app_id, pem_of(rsa_key()))
            credentials = AppCredentials(asking, key, time, learn=learned.append, **more)
            client = GithubClient(asking, credentials, time, sleep=time.sleep)
            yield Scene(**locals())

    return opened


# -- the proof of an App


def test_a_proof_is_what_github_asks_for(time: FakeTime) -> None:
    key = AppKey(7, pem_of(rsa_key()))
    header, claims = opened_proof(key.proof(time.wall_ms))
    now_s = time.wall_ms // 1000
    assert header == {"alg": "RS256", "typ": "JWT"}
    assert claims == {"iat": now_s - 30, "exp": now_s + 540, "iss": "7"}
    assert key.proof(time.wall_ms + 200_000) == key.proof(time.wall_ms)
    for later in (300_000, -1):
        other = key.proof(time.wall_ms + later)
        assert opened_proof(other)[1]["iat"] == (time.wall_ms + later) // 1000 - 30
    assert "PRIVATE" not in repr(key) and repr(key) == "AppKey(7)"


@pytest.mark.parametrize(
    "pem",
    [
        pem_of(ec.generate_private_key(ec.SECP256R1())),
        pem_of(rsa.generate_private_key(65537, 1024)),
        "-----BEGIN PRIVATE KEY-----\nabcd\n-----END PRIVATE KEY-----\n",
        "",
    ],
    ids=["elliptic", "small", "garbage", "empty"],
)
def test_a_key_that_cannot_prove_is_refused(pem: str) -> None:
    with pytest.raises(Refused, match="GITHUB_PRIVATE_KEY") as refused:
        AppKey(7, pem)
    assert refused.value.code == "setting_invalid" and "abcd" not in str(refused.value)


@pytest.mark.fault("B3")
@pytest.mark.parametrize("ahead_s", [-3_000, -45, 45, 3_000, 400_000])
async def test_a_wrong_clock_is_put_right_by_the_service(scene: Opened, ahead_s: int) -> None:
    async with scene() as it:
        it.github.ahead_ms = ahead_s * 1000
        await it.client.get(HERE, "issues/7")
        assert len(it.github.minted) == 1
        it.github.time.pass_ms(HOUR_MS - EARLY_MS - 120_000)
        await it.client.get(HERE, "issues/7")
        assert len(it.github.minted) == 1, "it lives as long as the service says"
        it.github.time.pass_ms(180_000)
        await it.client.get(HERE, "issues/7")
        assert len(it.github.minted) == 2


# -- tokens


async def test_a_token_is_found_kept_and_renewed_in_time(scene: Opened) -> None:
    async with scene() as it:
        for _ in range(3):
            await it.client.get(HERE, "issues/7")
        await it.client.get(Repository(key="o", full_name="acme/other"), "issues/7")
        assert it.github.minted == [
            {"installation": 42, "repositories": ["shop"]},
            {"installation": 42, "repositories": ["other"]},
        ]
        assert it.paths[:3] == [
            "GET /repos/acme/shop/installation",
            "POST /app/installations/42/access_tokens",
            "GET /repos/acme/shop/issues/7",
        ]
        await it.client.get(Repository(key="b", full_name="beta/shop"), "issues/7")
        assert [made["installation"] for made in it.github.minted] == [42, 42, 43]
        assert {"ghs_" + "0" * 36, it.service.heard[0].token} <= set(it.learned)
        names = [state.credential for state in it.governor.states()]
        assert not {name for name in names if "ghs" in name or "eyJ" in name}
        it.github.time.pass_ms(HOUR_MS - EARLY_MS)
        await it.client.get(HERE, "issues/7")
        assert len(it.github.minted) == 4


@pytest.mark.fault("I6")
async def test_what_is_no_longer_needed_is_revoked(
    scene: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene() as it:
        reading = await it.credentials.narrowed("acme/shop", {"contents": "read"})
        writing = await it.credentials.narrowed("acme/shop", {"contents": "write"})
        other = await it.credentials.narrowed("acme/other", {"contents": "read"})
        api = await it.credentials.of("acme/shop")
        await it.credentials.release("Acme/Shop")
        assert it.github.alive == {other.token, api.token}
        again = await it.credentials.narrowed("acme/shop", {"contents": "read"})
        assert again.token not in (reading.token, writing.token)
        monkeypatch.setattr(app_credentials, "MOST_KEPT", 2)
        await it.credentials.narrowed("acme/other", {"contents": "write"})
        await asyncio.gather(*it.credentials._leaving)  # type: ignore[attr-defined]
        assert len(it.github.alive) == 2 and other.token not in it.github.alive
        await it.credentials.close()
        assert it.github.alive == set()


@pytest.mark.fault("I6")
async def test_stopping_does_not_wait_for_a_service_that_is_gone(
    scene: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_credentials, "GIVE_BACK_S", 0.05)
    async with scene() as it:
        await it.credentials.of("acme/shop")
        it.github.gate = asyncio.Event()
        await it.credentials.close()
        it.github.gate.set()
        it.github.gate = None
        kept = await it.credentials.of("acme/shop")
        it.github.refusing = Reply(status=503, value={})
        await it.credentials.close()
        it.github.refusing = None
        assert (await it.credentials.of("acme/shop")).token != kept.token


async def test_many_at_once_cause_one_request(scene: Opened) -> None:
    async with scene() as it:
        await it.client.get(HERE, "")
        it.github.time.pass_ms(HOUR_MS)
        it.github.gate = asyncio.Event()
        asking = [asyncio.ensure_future(it.client.get(HERE, f"issues/{n}")) for n in range(20)]
        await asyncio.sleep(0.05)
        asking[0].cancel()
        it.github.gate.set()
        found = await asyncio.gather(*asking, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert all(isinstance(answer, dict) for answer in found[1:])
        assert len(it.github.minted) == 2


async def test_a_token_that_died_is_replaced_once(scene: Opened) -> None:
    async with scene() as it:
        await it.client.get(HERE, "")
        it.github.alive.clear()
        made = await it.client.send("POST", HERE, "issues", {})
        assert made == {"seen by": "ghs_" + "1".rjust(36, "0")}
        assert it.paths.count("POST /repos/acme/shop/issues") == 2
        it.github.refusing = Reply(status=401, value={"message": "Bad credentials"})
        with pytest.raises(Environmental) as refused:
            await it.client.send("POST", HERE, "issues", {})
        assert refused.value.code == "github_credentials_refused"
        assert it.paths.count("POST /repos/acme/shop/issues") == 3, "minting was refused too"


@pytest.mark.fault("I6")
async def test_for_git_and_agents_a_token_is_narrow(scene: Opened) -> None:
    async with scene() as it:
        one = await it.credentials.narrowed("acme/shop", {"contents": "write"})
        assert it.github.minted[-1] == {
            "installation": 42, "repositories": ["shop"], "permissions": {"contents": "write"},
        }  # fmt: skip
        assert (await it.credentials.narrowed("acme/shop", {"contents": "write"})) == one
        assert one != await it.credentials.narrowed("acme/shop", {"contents": "read"})
        assert one != await it.credentials.narrowed("acme/other", {"contents": "write"})
        assert one != await it.credentials.of("acme/shop")
        own = await it.credentials.minted("acme/shop", {"contents": "write"})
        assert own.token != one.token and own.token in it.learned
        assert own.permissions == {"contents": "write"}
        await it.credentials.revoke(own)
        assert own.token not in it.github.alive and one.token in it.github.alive
        await it.credentials.revoke(own)
        await it.credentials.revoke(one)
        assert (await it.credentials.narrowed("acme/shop", {"contents": "write"})) != one
        assert one.token not in f"{one!r}{one}"


# -- installations that are not there


@pytest.mark.fault("C12")
async def test_an_app_that_is_not_installed_is_named(scene: Opened) -> None:
    async with scene() as it:
        with pytest.raises(Environmental, match=r"acme/secret.*App 7 is not installed") as lost:
            await it.client.get(Repository(key="k", full_name="acme/secret"), "")
        assert lost.value.code == "github_access_lost" and lost.value.hint


@pytest.mark.fault("C12")
async def test_a_new_installation_is_found(scene: Opened) -> None:
    async with scene() as it:
        await it.client.get(HERE, "")
        it.github.installations = {"acme/shop": 99}
        it.github.alive.clear()
        await it.client.get(HERE, "")
        assert [made["installation"] for made in it.github.minted] == [42, 99]
        it.github.installations.clear()
        it.github.alive.clear()
        with pytest.raises(Environmental) as lost:
            await it.client.get(HERE, "")
        assert lost.value.code == "github_access_lost"


@pytest.mark.fault("C12")
async def test_a_suspended_installation_is_access_lost(scene: Opened) -> None:
    for more in ({}, {"installation_id": 42}):
        async with scene(**more) as it:
            it.github.suspended = True
            with pytest.raises(Environmental, match="acme/shop") as lost:
                await it.client.get(HERE, "")
            assert lost.value.code == "github_access_lost" and "suspended" in lost.value.message


async def test_a_given_installation_is_not_looked_for(scene: Opened) -> None:
    async with scene(installation_id=42) as it:
        await it.client.get(HERE, "")
        assert it.paths[0] == "POST /app/installations/42/access_tokens"
    async with scene(installation_id=5) as it:
        with pytest.raises(Environmental) as lost:
            await it.client.get(HERE, "")
        assert lost.value.code == "github_access_lost" and "App 7" in lost.value.message


@pytest.mark.fault("D9")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (
            Reply(status=422, value={"message": "The permissions requested are not granted"}),
            "github_permission_missing",
        ),
        (
            Reply(
                status=422,
                value={"message": "There is at least one repository that does not exist"},
            ),
            "github_access_lost",
        ),
        (Reply(value=[]), "github_answer_strange"),
        (Reply(value={"id": 42, "token": "", "expires_at": ""}), "github_answer_strange"),
        (Reply(value={"id": 42, "token": "ghs_x", "expires_at": "soon"}), "github_answer_strange"),
    ],
)
async def test_what_minting_may_answer(scene: Opened, reply: Reply, code: str) -> None:
    async with scene(installation_id=42) as it:
        it.github.refusing = reply
        with pytest.raises(Environmental) as failed:
            await it.credentials.narrowed("acme/shop", {"contents": "write"})
        assert failed.value.code == code and failed.value.hint


async def test_an_unknown_app_is_its_credentials_fault(scene: Opened) -> None:
    async with scene(app_id=8) as it:
        with pytest.raises(Environmental) as failed:
            await it.client.get(HERE, "")
        assert failed.value.code == "github_credentials_refused" and "app:8" in failed.value.message


@pytest.mark.fault("D9")
async def test_a_404_for_want_of_a_permission_names_it(scene: Opened) -> None:
    async with scene() as it:
        await it.client.get(HERE, "")
        needed = {"X-Accepted-GitHub-Permissions": "administration=write,metadata=read"}
        it.github.refusing = Reply(status=404, value={"message": "Not Found"}, headers=needed)
        with pytest.raises(Environmental, match="administration=write") as failed:
            await it.client.get(HERE, "branches/main/protection")
        assert failed.value.code == "github_permission_missing"
        granted = {"X-Accepted-GitHub-Permissions": "issues=write; contents=read"}
        it.github.refusing = Reply(status=404, value={"message": "Not Found"}, headers=granted)
        with pytest.raises(Environmental) as failed:
            await it.client.get(HERE, "contents/x")
        assert failed.value.code == "github_access_lost"


async def test_the_login_of_an_app(scene: Opened) -> None:
    async with scene() as it:
        assert await it.client.account() == await it.client.account() == "robot[bot]"
        assert it.paths == ["GET /app"]


async def test_a_plain_token_cannot_be_narrowed_for_an_agent() -> None:
    credentials: Credentials = TokenCredentials(None, "ghp_" + "a" * 36)  # type: ignore[arg-type]  # asks nothing here
    one = await credentials.of("acme/shop")
    assert one == await credentials.narrowed("acme/shop", {"contents": "read"})
    assert one.name.startswith("token:") and len(one.name) == 10 and one.name[6:] not in one.token
    with pytest.raises(Permanent) as refused:
        await credentials.minted("acme/shop", {"contents": "read"})
    assert refused.value.code == "github_token_not_narrow"
    assert not await credentials.refused(one)
