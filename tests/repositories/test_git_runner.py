"""The host's git: deadlines, bounds, cancellation, and whose repositories it may serve."""

from __future__ import annotations

import asyncio
import os
import random
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from agent_work_orders.errors import Failed, Permanent, TooLarge, Transient
from agent_work_orders.repositories.failure import classify
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.push import push
from agent_work_orders.repositories.url import RepositoryUrl
from agent_work_orders.security.outbound import Outbound
from outside import ConnectProxy, Tls, certificate


def slow_git(tmp_path: Path, marker: str) -> Git:
    """A git that never ends, with a helper of its own."""
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\nsleep {marker} &\nsleep {marker}\n")
    program.chmod(0o755)
    return Git(executable=str(program))


def sleeping(marker: str) -> list[str]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [b"sleep", marker.encode()]:
                found.append(name)
    return found


async def all_ended(marker: str) -> bool:
    for _ in range(200):
        if not sleeping(marker):
            return True
        await asyncio.sleep(0.01)
    return False


@pytest.mark.fault("E17")
async def test_the_deadline_kills_the_whole_group(tmp_path: Path) -> None:
    marker = f"{os.getpid()}71"
    with pytest.raises(Transient) as late:
        await slow_git(tmp_path, marker).run("wait", ["fetch"], timeout_s=0.5)
    assert late.value.code == "git_timeout"
    assert await all_ended(marker)


async def test_cancelling_kills_the_whole_group(tmp_path: Path) -> None:
    marker = f"{os.getpid()}72"
    running = asyncio.ensure_future(slow_git(tmp_path, marker).run("wait", ["fetch"]))
    while len(sleeping(marker)) < 2:
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await all_ended(marker)


async def test_cancelling_at_any_moment_leaves_nothing_open() -> None:
    chance = random.Random(1)
    git = Git()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        calls = [
            asyncio.ensure_future(git.run("hash", ["hash-object", "--stdin"], stdin=b"x" * 200_000))
            for _ in range(8)
        ]
        await asyncio.sleep(chance.random() * 0.02)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    assert len(os.listdir("/proc/self/fd")) == before


async def test_output_is_bounded() -> None:
    git = Git()
    with pytest.raises(TooLarge):
        await git.run("help", ["help", "-a"], limit_bytes=100)
    cut = await git.run("help", ["help", "-a"], limit_bytes=100, cut=True)
    assert cut.truncated and len(cut.stdout) == 100


async def test_the_environment_is_built_from_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trace = tmp_path / "trace"
    for name in ("GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR"):
        monkeypatch.setenv(name, f"touch {trace}")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "alias.version")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"!touch {trace}")
    git = Git(tag="t")
    assert git.environment()["AWO_HOME_TAG"] == "t"
    assert "GIT_CONFIG_COUNT" not in git.environment()
    await git.run("speak", ["version"])
    assert not trace.exists()


@pytest.mark.fault("F1")
async def test_other_transports_are_refused_by_git_too(mirrors: Mirrors, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    for url in (f"ext::touch {trace}", "http://127.0.0.1:9/x", "git://127.0.0.1/x"):
        with pytest.raises(Failed):
            await mirrors.git.run("list", ["ls-remote", "--end-of-options", url], transport="https")
    assert not trace.exists()


@pytest.mark.fault("E13")
@pytest.mark.parametrize(
    ("stderr", "code"),
    [
        (
            "fatal: could not read Username for 'https://x': terminal prompts disabled",
            "repository_auth_needed",
        ),
        ("remote: Repository not found.", "repository_not_found"),
        ("fatal: 'x' does not appear to be a git repository", "not_a_repository"),
        (
            "fatal: unable to access 'https://x/': Could not resolve host: x",
            "repository_unreachable",
        ),
        ("error: file write error: No space left on device", "disk_full"),
        ("fatal: Unable to create '/m/x.lock': File exists.", "git_locked"),
        ("error: object file .git/objects/aa is empty", "mirror_corrupt"),
        (" ! [rejected] a -> a (stale info)", "remote_changed"),
        (" ! [remote rejected] a -> a (pre-receive hook declined)", "push_rejected"),
        ("remote: error: GH006: Protected branch update failed", "push_protected"),
        (
            "! [remote rejected] a -> a (refusing to allow a GitHub App to create or update"
            " workflow `.github/workflows/ci.yml` without `workflows` permission)",
            "push_protected",
        ),
        ("remote: error: GH013: push protection\n ! [remote rejected] a -> a", "push_protected"),
        ("something else", "git_failed"),
    ],
)
def test_words_of_git_are_classified(stderr: str, code: str) -> None:
    failure = classify("try", 128, stderr.encode())
    assert failure.code == code and failure.hint


@pytest.mark.fault("I1")
def test_credentials_in_git_errors_are_not_repeated() -> None:
    failure = classify("try", 1, b"fatal: x 'https://user:canary@host/x' \x1b[31m")
    assert "canary" not in failure.message + str(failure.context)
    assert "\x1b" not in failure.message


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another owner: run as root")
async def test_a_repository_of_another_user_stays_theirs(
    mirrors: Mirrors,
    origin: RepositoryUrl,
    source: Path,
    in_git: Callable[..., str],
    tmp_path: Path,
) -> None:
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(0o711)
    for path in (source, *source.rglob("*")):
        os.chown(path, 65_534, 65_534)
    mirror = await mirrors.ensure(origin)
    base = mirror.resolve_base(None).sha
    sha = await mirror.commit_tree(
        await mirror.tree_of(base), [base], "x\n", author="A <a@b>", at_ms=0
    )
    await push(mirror, origin, "feat-x", sha, expected=None)
    owners = {path.stat().st_uid for path in (source / ".git").rglob("*")}
    assert owners == {65_534}


async def test_a_missing_origin_fails_without_a_prompt(mirrors: Mirrors) -> None:
    url = RepositoryUrl(kind="https", url="https://host.invalid/a/b", key="b-0", display="")
    with pytest.raises(Failed) as failed:
        await mirrors.ensure(url)
    assert failed.value.code in ("repository_unreachable", "repository_auth_needed")
    assert not isinstance(failed.value, Permanent) or failed.value.code != "git_failed"


async def test_git_goes_through_the_proxy_and_believes_the_authorities(tmp_path: Path) -> None:
    file = certificate(tmp_path, "git.example.test")
    asked = ["ls-remote", "--end-of-options", "https://git.example.test/shop.git"]
    async with Tls(file, "404 X") as service, ConnectProxy(service.port) as proxy:
        way = f"http://ann:pass-word@{proxy.address}"
        for certificates in ("", str(file)):
            git = Git(outbound=Outbound(proxy=way, certificates=certificates))
            with pytest.raises(Failed) as failed:
                await git.run("list", asked, transport="https")
            # The service has no repositories: to be told so is to have been there.
            assert (failed.value.code == "repository_not_found") == bool(certificates), failed.value
        assert service.heard == 1
        assert all(head.startswith("CONNECT git.example.test:443 ") for head in proxy.asked)
        before = len(proxy.asked)
        with pytest.raises(Failed):
            near = ["ls-remote", "--end-of-options", f"{service.url}shop.git"]
            await git.run("list", near, transport="https")
        assert len(proxy.asked) == before, "this machine is no matter of the proxy's"
