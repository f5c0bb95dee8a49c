"""Where requests go: not past certificates, not through proxies that the environment names."""

from __future__ import annotations

import base64
import sys
from pathlib import Path

import pytest
from small_service import Reply, SmallService

sys.path.append(str(Path(__file__).parents[1]))

from agent_work_orders.github_integration.credential import Credential
from agent_work_orders.github_integration.http.one_request import Exchange, HttpRequest, NotSent
from agent_work_orders.security.outbound import Outbound
from outside import ConnectProxy, Tls, certificate

WHO = Credential(name="token:ab12", token="ghp_" + "a" * 36)


@pytest.mark.fault("D16")
@pytest.mark.parametrize("known", ["nobody's", "another address's", "its own"])
async def test_a_certificate_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: str
) -> None:
    right, wrong = certificate(tmp_path, "127.0.0.1"), certificate(tmp_path, "127.0.0.9")
    served = wrong if known == "another address's" else right
    if known != "nobody's":
        monkeypatch.setenv("SSL_CERT_FILE", str(served))
    async with Tls(served) as service, Exchange(trusted=Outbound().trusted()) as exchange:
        asking = exchange.send(HttpRequest(method="GET", url=service.url), WHO)
        if known == "its own":
            assert (await asking).status == 204, "the control"
            return
        with pytest.raises(NotSent, match=r"(?i)certificate"):
            await asking
        assert service.heard == 0


async def test_plain_http_settings_trust_no_certificate(tmp_path: Path) -> None:
    async with Tls(certificate(tmp_path, "127.0.0.1")) as service:
        async with Exchange(trusted=None) as exchange:
            with pytest.raises(NotSent, match=r"(?i)certificate"):
                await exchange.send(HttpRequest(method="GET", url=service.url), WHO)
        assert service.heard == 0


@pytest.mark.fault("D16")
async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def answering(heard: object) -> Reply:
        return Reply(value={})

    async with SmallService(answering) as proxy, SmallService(answering) as service:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        async with Exchange(trusted=None) as exchange:
            url = service.url.replace("127.0.0.1", "localhost")
            answer = await exchange.send(HttpRequest(method="GET", url=url), WHO)
        assert answer.status == 200 and len(service.heard) == 1 and proxy.heard == []


async def test_a_proxy_and_authorities_that_were_set_on_purpose(tmp_path: Path) -> None:
    file = certificate(tmp_path, "api.example.test")
    async with Tls(file) as service, ConnectProxy(service.port) as proxy:
        meant = Outbound(proxy=f"http://ann:pa%73s-word@{proxy.address}", certificates=str(file))
        url = "https://api.example.test/meta"
        request = HttpRequest(method="GET", url=url)
        async with Exchange(trusted=meant.trusted(), proxy=meant.proxy_to(url)) as exchange:
            assert (await exchange.send(request, WHO)).status == 204
        login = base64.b64encode(b"ann:pass-word").decode()
        (head,) = proxy.asked
        assert head.startswith("CONNECT api.example.test:443 ") and f"Basic {login}" in head
        assert WHO.token not in head, "the proxy sees where we go, not as whom"
        # Without the authorities the same way ends before anything is sent.
        unknown = Outbound(proxy=meant.proxy)
        async with Exchange(trusted=unknown.trusted(), proxy=meant.proxy_to(url)) as exchange:
            with pytest.raises(NotSent, match=r"(?i)certificate"):
                await exchange.send(request, WHO)
        assert service.heard == 1
