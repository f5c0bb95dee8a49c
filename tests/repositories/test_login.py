"""A login reaches the one server that it is for, and lies about nowhere."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from http_origin import HttpOrigin, http_origin

from agent_work_orders.errors import Broken, Environmental, Permanent
from agent_work_orders.repositories.failure import classify
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.login import Login, Remote, offered
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.repositories.push import push, remote_head
from agent_work_orders.repositories.url import RepositoryUrl, parse

SECRET = "ghs_canaryCANARY0123456789canaryCANARY99"
OTHER = SECRET.replace("canary", "other-")


class Given:
    """Logins as they are given: one after another."""

    def __init__(self, *passwords: str, lacking: Environmental | None = None) -> None:
        self.passwords = list(passwords)
        self.lacking = lacking
        self.asked: list[tuple[str, bool]] = []
        self.gone: list[str] = []

    async def login(self, url: str, *, writes: bool) -> Login | None:
        self.asked.append((url, writes))
        if self.lacking is not None:
            raise self.lacking
        if not self.passwords:
            return None
        return Login(username="x-access-token", password=self.passwords[0])

    async def done(self, url: str) -> None:
        return None

    async def moved(self, url: str) -> bool:
        return False

    async def refused(self, url: str, login: Login) -> bool:
        self.gone.append(self.passwords.pop(0))
        return bool(self.passwords)


@pytest.fixture
def server(tmp_path: Path, source: Path, in_git: Callable[..., str]) -> Iterator[HttpOrigin]:
    folder = tmp_path / "served"
    in_git(tmp_path, "clone", "--quiet", "--bare", str(source), str(folder / "shop.git"))
    with http_origin(folder) as origin:
        origin.passwords = {SECRET}
        yield origin


@pytest.fixture
def shop(server: HttpOrigin) -> RepositoryUrl:
    return parse(f"{server.url}/shop.git", origins=frozenset({server.url}))


def shelf(tmp_path: Path, logins: Given | None) -> Mirrors:
    return Mirrors(tmp_path / "mirrors", Git(logins=logins))


async def test_fetch_list_and_push_with_a_login(
    tmp_path: Path, server: HttpOrigin, shop: RepositoryUrl
) -> None:
    logins = Given(SECRET)
    mirror = await shelf(tmp_path, logins).ensure(shop)
    head = mirror.resolve_base("main").sha
    pushed = await push(mirror, shop, "awo/one", head, expected=None)
    assert pushed.outcome == "created"
    assert await remote_head(mirror, shop, "awo/one") == head
    assert (shop.url, True) in logins.asked and (shop.url, False) in logins.asked
    assert {password for _, _, password in server.asked} == {"", SECRET}
    assert logins.gone == []


@pytest.mark.parametrize("logins", [None, Given()], ids=["none", "not for this one"])
async def test_without_a_login_it_fails_at_once(
    tmp_path: Path, shop: RepositoryUrl, logins: Given | None
) -> None:
    with pytest.raises(Permanent) as refused:
        await shelf(tmp_path, logins).ensure(shop)
    assert refused.value.code == "repository_auth_needed"


async def test_a_refused_login_is_replaced_once(
    tmp_path: Path, server: HttpOrigin, shop: RepositoryUrl
) -> None:
    logins = Given(OTHER, SECRET)
    mirror = await shelf(tmp_path, logins).ensure(shop)
    assert logins.gone == [OTHER]
    server.passwords = {"nobody's"}
    with pytest.raises(Permanent) as refused:
        await remote_head(mirror, shop, "main")
    assert refused.value.code == "repository_auth_needed" and logins.gone == [OTHER, SECRET]
    assert SECRET not in f"{refused.value}{refused.value.context}"
    again = Given(OTHER, OTHER, OTHER)
    with pytest.raises(Permanent):
        await shelf(tmp_path, again).ensure(shop)
    assert again.gone == [OTHER], "no third attempt"


async def test_a_push_is_tried_with_another_login_too(
    tmp_path: Path, server: HttpOrigin, shop: RepositoryUrl
) -> None:
    logins = Given(SECRET, OTHER)
    mirror = await shelf(tmp_path, logins).ensure(shop)
    head = mirror.resolve_base("main").sha
    server.public, server.passwords = True, {OTHER}
    assert (await push(mirror, shop, "awo/two", head, expected=None)).outcome == "created"
    assert logins.gone == [SECRET]


async def test_what_everybody_may_read_needs_no_login(
    tmp_path: Path, server: HttpOrigin, shop: RepositoryUrl
) -> None:
    server.public = True
    lost = Environmental("github_access_lost", "the App is not installed there", hint="Install it.")
    mirror = await shelf(tmp_path, Given(lacking=lost)).ensure(shop)
    head = mirror.resolve_base("main").sha
    with pytest.raises(Environmental) as lacking:
        await push(mirror, shop, "awo/one", head, expected=None)
    assert lacking.value is lost
    server.public = False
    with pytest.raises(Environmental) as lacking:
        await remote_head(mirror, shop, "main")
    assert lacking.value is lost, "people are told what is missing, not that git wants a password"


@pytest.mark.fault("D12")
async def test_a_login_follows_no_redirect(
    tmp_path: Path, server: HttpOrigin, shop: RepositoryUrl
) -> None:
    (tmp_path / "elsewhere").mkdir()
    with http_origin(tmp_path / "elsewhere") as elsewhere:
        server.redirect = elsewhere.url
        with pytest.raises((Permanent, Environmental)):
            await Git(logins=Given(SECRET)).run(
                "list",
                ["ls-remote", shop.url],
                transport="http",
                remote=Remote(url=shop.url),
            )
        assert elsewhere.asked == []
        assert [password for _, _, password in server.asked] == [""]


async def test_another_origin_is_told_nothing(tmp_path: Path, server: HttpOrigin) -> None:
    """The pipe is there, and git is asked for a login: by a server that it is not for."""
    (tmp_path / "elsewhere").mkdir()
    with http_origin(tmp_path / "elsewhere") as elsewhere:
        with pytest.raises(Permanent) as refused:
            await Git(logins=Given(SECRET)).run(
                "list",
                ["ls-remote", f"{elsewhere.url}/shop.git"],
                transport="http",
                remote=Remote(url=f"{server.url}/shop.git"),
            )
        assert refused.value.code == "repository_auth_needed"
        assert {password for _, _, password in elsewhere.asked} == {""}


async def test_the_helper_itself_answers_for_its_origin_only() -> None:
    """Without git's own matching: what the helper says to other questions."""
    login = Login(username="x-access-token", password=SECRET)
    questions = {
        b"protocol=https\nhost=git.example.com\n": True,
        b"protocol=https\nhost=git.example.com:444\n": False,
        b"protocol=http\nhost=git.example.com\n": False,
        b"protocol=https\nhost=evil.example.com\npath=host=git.example.com\n": False,
        b"": False,
    }
    for question, answered in questions.items():
        with offered(Remote(url="https://git.example.com/a/b"), login) as (options, pipes):
            helper = options[1].partition(".helper=!")[2]
            child = await asyncio.create_subprocess_exec(
                "sh", "-c", f"{helper} get", stdin=-1, stdout=-1, pass_fds=pipes
            )
            said, _ = await child.communicate(question)
        assert (SECRET.encode() in said) is answered, question
    assert SECRET not in " ".join(options) and SECRET not in repr(login)


@pytest.mark.parametrize(
    ("url", "login"),
    [
        ("https://git.example.com/a", Login(username="u", password="a\nhost=x")),
        ("https://git.example.com/a", Login(username="u\n", password="a")),
        ("https://git.example.com/a", Login(username="u", password="")),
        ("https://git.example.com;touch x/a", Login(username="u", password="a")),
        ("https://u:p@git.example.com/a", Login(username="u", password="a")),
        ("ssh://git.example.com/a", Login(username="u", password="a")),
    ],
)
def test_what_is_no_origin_or_login_is_not_offered(url: str, login: Login) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Broken), offered(Remote(url=url), login):
        pass
    assert len(os.listdir("/proc/self/fd")) == before


async def test_no_descriptor_is_left(tmp_path: Path, shop: RepositoryUrl) -> None:
    mirrors = shelf(tmp_path, Given(SECRET))
    mirror = await mirrors.ensure(shop)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        await remote_head(mirror, shop, "main")
    # The server of this test, in the same process, may be about to open or close one of its own.
    assert len(os.listdir("/proc/self/fd")) < before + 5


def test_a_question_for_a_password_is_not_a_damaged_mirror() -> None:
    words = b"fatal: could not read Password for 'https://x@git.example.com': terminal prompts"
    assert classify("fetch", 128, words).code == "repository_auth_needed"


# -- where it must not be


def descendants(pid: int) -> set[int]:
    """Of this process, but not the test's own server side (git http-backend)."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def sinks(pid: int) -> dict[str, bytes]:
    """What other users of the machine, or whoever reads a crash report, could see of a process."""
    found = {}
    for name in ("cmdline", "environ", "comm"):
        try:
            found[f"{name} of {pid}"] = Path(f"/proc/{pid}/{name}").read_bytes()
        except OSError:
            continue
    return found


FORMS = (
    SECRET.encode(),
    base64.b64encode(SECRET.encode())[:-4],
    base64.b64encode(b"x-access-token:" + SECRET.encode())[:-4],
    SECRET.encode().hex().encode(),
)


def found_in(places: dict[str, bytes]) -> list[str]:
    return [name for name, content in places.items() if any(form in content for form in FORMS)]


@pytest.mark.fault("I1")
async def test_during_a_slow_push_the_secret_lies_nowhere(
    tmp_path: Path, server: HttpOrigin, shop: RepositoryUrl, capfd: pytest.CaptureFixture[str]
) -> None:
    mirror = await shelf(tmp_path, Given(SECRET)).ensure(shop)
    head = mirror.resolve_base("main").sha
    server.go_on.clear()
    pushing = asyncio.ensure_future(push(mirror, shop, "awo/slow", head, expected=None))
    try:
        async with asyncio.timeout(60):
            while not server.pushing.is_set():
                await asyncio.sleep(0.02)
        tree = descendants(os.getpid())
        places: dict[str, bytes] = {}
        for pid in tree:
            places |= sinks(pid)
        programs = b" ".join(content for name, content in places.items() if "comm" in name)
        assert b"git-remote-http" in programs, "the whole tree was looked at"
        for file in mirror.path.rglob("*"):
            if file.is_file():
                places[str(file)] = file.read_bytes()
        assert str(mirror.path / "config") in places
        assert found_in(places) == []
        # The control: the same search finds it where it is put.
        env = {"PATH": os.environ["PATH"], "CANARY": SECRET}
        child = await asyncio.create_subprocess_exec("sh", "-c", "read x", stdin=-1, env=env)
        shown = await asyncio.create_subprocess_exec("sh", "-c", "read x", SECRET, stdin=-1)
        planted = mirror.path / "planted"
        planted.write_text(f"[http]\nextraHeader = Basic {FORMS[2].decode()}")
        try:
            again = {}
            for pid in descendants(os.getpid()):
                again |= sinks(pid)
            again[str(planted)] = planted.read_bytes()
            assert set(found_in(again)) >= {
                f"environ of {child.pid}", f"cmdline of {shown.pid}", str(planted),
            }  # fmt: skip
        finally:
            planted.unlink()
            for process in (child, shown):
                process.kill()
                await process.wait()
    finally:
        server.go_on.set()
        await pushing
    said = capfd.readouterr()
    assert SECRET not in said.out + said.err
    assert server.asked[-1][2] == SECRET, "it was used"
