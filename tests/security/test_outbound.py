"""Which way leads out, as the operator said."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_work_orders.errors import Refused
from agent_work_orders.security.outbound import Outbound
from agent_work_orders.security.redaction import Redactor
from agent_work_orders.settings import load

PROXY = "http://ann:pass%2Dword@proxy.example:3128"
MEANT = Outbound(proxy=PROXY, no_proxy=("git.example", ".inside.example", "10.0.0.7"))


@pytest.mark.parametrize(
    ("url", "through"),
    [
        ("https://api.github.com/x", True),
        ("https://api.github.com:8443/x", True),
        ("http://api.github.com/x", False),
        ("https://git.example/x", False),
        ("https://GIT.example/x", False),
        ("https://sub.git.example/x", True),
        ("https://git.inside.example", False),
        ("https://inside.example", True),
        ("https://10.0.0.7:8443", False),
        ("https://localhost:1", False),
        ("https://[::1]:1", False),
    ],
)
def test_which_addresses_go_through_the_proxy(url: str, through: bool) -> None:
    assert MEANT.proxy_to(url) == (PROXY if through else "")
    assert Outbound().proxy_to(url) == ""
    assert Outbound(proxy=PROXY, no_proxy=("*",)).proxy_to(url) == ""


def test_only_what_is_set_on_purpose_counts(tmp_path: Path) -> None:
    common = {"HTTPS_PROXY": PROXY, "https_proxy": PROXY, "ALL_PROXY": PROXY}
    assert load(common, home=tmp_path).outbound == Outbound()
    given = {"AWO_HTTPS_PROXY": PROXY, "AWO_NO_PROXY": "git.example,.inside.example,10.0.0.7"}
    settings = load(given, home=tmp_path)
    assert settings.outbound == MEANT
    clean = Redactor(settings.secrets).text
    assert "pass" not in clean("pass%2Dword") + clean("pass-word")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AWO_HTTPS_PROXY", "https://proxy.example:3128"),
        ("AWO_HTTPS_PROXY", "socks5://proxy.example:1080"),
        ("AWO_HTTPS_PROXY", "proxy.example:3128"),
        ("AWO_HTTPS_PROXY", "http://proxy.example"),
        ("AWO_HTTPS_PROXY", "http://proxy.example:3128/path"),
        ("AWO_HTTPS_PROXY", "http://a b:c@proxy.example:3128"),
        ("AWO_HTTPS_PROXY", "http://a:b@c:d@proxy.example:3128"),
        ("AWO_NO_PROXY", "http://git.example"),
        ("AWO_NO_PROXY", "git.example:8443"),
        ("AWO_CA_BUNDLE", "/nonexistent.pem"),
        ("AWO_CA_BUNDLE", __file__),
    ],
)
def test_what_does_not_fit_is_refused_and_not_repeated(
    variable: str, value: str, tmp_path: Path
) -> None:
    with pytest.raises(Refused) as refused:
        load({variable: value}, home=tmp_path)
    assert refused.value.field == variable
    assert value not in str(refused.value)
