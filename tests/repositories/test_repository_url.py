"""What may be given as a repository, a branch or an issue."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.errors import Refused
from agent_work_orders.repositories import refname
from agent_work_orders.repositories.url import again, parse

ORDER = "wo-abcdefgh234567ab"


@pytest.mark.parametrize(
    ("text", "kind", "url"),
    [
        ("https://github.com/owner/name", "https", "https://github.com/owner/name"),
        ("https://github.com/owner/name.git/", "https", "https://github.com/owner/name.git"),
        ("HTTPS://GitHub.com/Owner/Name", "https", "https://github.com/Owner/Name"),
        ("ssh://git@github.com/owner/name.git", "ssh", "ssh://git@github.com/owner/name.git"),
        ("git@github.com:owner/name.git", "ssh", "git@github.com:owner/name.git"),
        ("/srv/project", "path", "/srv/project"),
        ("/srv/./a//../project/", "path", "/srv/project"),
        ("./project", "path", "/cwd/project"),
        ("../project", "path", "/project"),
        ("project", "path", "/cwd/project"),
        (".", "path", "/cwd"),
        ("/srv/with space/ünïcode", "path", "/srv/with space/ünïcode"),
    ],
)
def test_accepted(text: str, kind: str, url: str) -> None:
    parsed = parse(text, cwd="/cwd")
    assert (parsed.kind, parsed.url) == (kind, url)
    assert re.fullmatch(r"[a-z0-9-]+-[0-9a-f]{16}", parsed.key)


@pytest.mark.fault("F1")
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-oProxyCommand=id",
        "--upload-pack=id",
        "-u id",
        "ext::sh -c id",
        "EXT::sh",
        "fd::17",
        "transport::https://github.com/a/b",
        "file:///srv/project",
        "FILE:/srv/project",
        "ssh://-oProxyCommand=id/x",
        "ssh://git@-oProxyCommand=id/x",
        "-oProxyCommand=id:x",
        "git@-oProxyCommand=id:x",
        "ssh://host/-oProxyCommand",
        "git@host:-x",
        "https:///h",
        "https://",
        "https://github.com",
        "https://github.com/",
        "https://user@github.com/a/b",
        "https://user:secret@github.com/a/b",
        "https://:secret@github.com/a/b",
        "ssh://git:secret@github.com/a/b",
        "https://github.com/a/b\n",
        "https://github.com/a\r\nHost: evil/b",
        "https://github.com/a\x00b",
        "https://github.com/a/../b",
        "https://github.com/a/%2e%2e/b",
        "https://github.com/a/b?x=1",
        "https://github.com/a/b#x",
        "https://github.com/$(id)",
        "https://github.com/a b",
        "https://github.com:8443/a/b",
        "https://github.com:x/a/b",
        "https://127.0.0.1/a/b",
        "https://[::1]/a/b",
        "https://2130706433/a/b",
        "https://0x7f000001/a/b",
        "https://gïthub.com/a/b",
        "https://github.com\\@evil.com/a",
        "http://github.com/a/b",
        "git://github.com/a/b",
        "ftp://github.com/a/b",
        "javascript:alert(1)",
        "/srv/\x1b[31mred",
        "/",
        "~/project",
        "x" * 3000,
        "\ud800",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(Refused) as refused:
        parse(text, cwd="/cwd")
    assert refused.value.code.startswith("repository_url_")
    assert refused.value.field == "repository_url"
    assert "secret" not in str(refused.value)


def test_an_origin_the_operator_allowed() -> None:
    origins = frozenset({"http://127.0.0.1:8123"})
    assert parse("http://127.0.0.1:8123/a/b", origins=origins).kind == "http"
    for text in ("http://127.0.0.1:8124/a/b", "https://127.0.0.1:8123/a/b", "http://127.0.0.1/a"):
        with pytest.raises(Refused):
            parse(text, origins=origins)


def test_keys_tell_repositories_apart() -> None:
    same = {
        parse(text).key
        for text in (
            "https://github.com/owner/name",
            "https://github.com/owner/name.git",
            "https://GITHUB.com/owner/name/",
            "ssh://git@github.com/owner/name",
            "git@github.com:owner/name.git",
        )
    }
    assert len(same) == 1
    different = {
        parse(text).key
        for text in (
            "https://github.com/owner/name",
            "https://github.com/other/name",
            "https://example.com/owner/name",
            "/github.com/owner/name",
            "/owner/name",
        )
    }
    assert len(different) == 5


@pytest.mark.fault("F1")
@given(st.text(max_size=80) | st.from_regex(r"[-a-z]*(::|://|@)?[-@:/.a-z]{0,30}", fullmatch=True))
def test_nothing_accepted_is_an_option_or_another_transport(text: str) -> None:
    try:
        parsed = parse(text, cwd="/cwd")
    except Refused:
        return
    assert not parsed.url.startswith("-") and "::" not in parsed.url.split("/", 1)[0]
    assert not any(ord(char) < 32 for char in parsed.url)
    assert re.fullmatch(r"[a-z0-9-]+-[0-9a-f]{16}", parsed.key)
    if parsed.kind == "path":
        assert parsed.url.startswith("/") and parse(parsed.url) == parsed
    else:
        host = re.split(r"[/:]", parsed.url.split("://")[-1].split("@")[-1])[0]
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", host)


@pytest.mark.fault("F2")
@pytest.mark.parametrize(
    "name",
    [
        "",
        "-x",
        "$(id)",
        "a;b",
        "${IFS}",
        "a\nb",
        "a..b",
        "a@{b",
        "a.lock",
        "a/.b",
        "a/-b",
        "x" * 300,
        "a//b",
        "/a",
        "a/",
        "a.",
        "HEAD",
        "@",
        "a b",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "a*",
        "a[",
        "a\\b",
        "\u202eabc",
        "refs\x00",
        "a/b.lock/c",
    ],
)
def test_branch_names_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        refname.check_branch(name)
    assert refused.value.code == "branch_name_invalid"


@pytest.mark.parametrize("name", ["main", "release/1.2", "feat-issue-42", "a", "user/x_y+z"])
def test_branch_names_accepted(name: str) -> None:
    assert refname.check_branch(name) == name


def test_branches_are_named_by_the_host() -> None:
    assert refname.branch_name("feat", "42", ORDER) == f"feat-issue-42-{ORDER}"
    assert refname.branch_name("fix", None, ORDER) == f"fix-{ORDER}"
    for arguments in (("feat", "4 2", ORDER), ("feat", "-1", ORDER), ("-x", None, ORDER)):
        with pytest.raises(Refused):
            refname.branch_name(*arguments)
    with pytest.raises(Refused):
        refname.branch_name("feat", None, "../../main")


@pytest.mark.parametrize("text", ["0", "01", "-1", "1e3", "４", "1" * 11, "", "1\n"])
def test_issue_numbers_refused(text: str) -> None:
    with pytest.raises(Refused):
        refname.check_issue_number(text)


def test_what_was_accepted_is_read_again_as_the_same() -> None:
    """The operator's list may have changed since the order was made."""
    allowed = frozenset({"http://127.0.0.1:4711"})
    for text in (
        "http://127.0.0.1:4711/acme/site.git",
        "https://example.com/acme/site",
        "git@example.com:acme/site",
        "/srv/site.git",
    ):
        assert again(text) == parse(text, origins=allowed)
    for text in ("ext::sh -c id", "-oProxyCommand=x", "https://user:secret@example.com/a/b"):
        with pytest.raises(Refused):
            again(text)
