"""Where requests go: not past certificates, not through proxies that the environment names."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from small_service import Reply, SmallService

from agent_work_orders.github_integration.credential import Credential
from agent_work_orders.github_integration.http.one_request import Exchange, HttpRequest, NotSent

WHO = Credential(name="token:ab12", token="ghp_" + "a" * 36)


def certificate(folder: Path, address: str) -> Path:
    """A key and a certificate that it signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begun)
        .not_valid_after(begun + timedelta(days=36_500))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address(address))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{address}.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


class Tls:
    """A service behind TLS that counts what it hears."""

    def __init__(self, file: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(file)
        self.heard = 0

    async def __aenter__(self) -> Tls:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        self.url = f"https://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.heard += 1
        writer.write(b"HTTP/1.1 204 X\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()


@pytest.mark.fault("D16")
@pytest.mark.parametrize("known", ["nobody's", "another address's", "its own"])
async def test_a_certificate_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: str
) -> None:
    right, wrong = certificate(tmp_path, "127.0.0.1"), certificate(tmp_path, "127.0.0.9")
    served = wrong if known == "another address's" else right
    if known != "nobody's":
        monkeypatch.setenv("SSL_CERT_FILE", str(served))
    async with Tls(served) as service, Exchange() as exchange:
        asking = exchange.send(HttpRequest(method="GET", url=service.url), WHO)
        if known == "its own":
            assert (await asking).status == 204, "the control"
            return
        with pytest.raises(NotSent, match=r"(?i)certificate"):
            await asking
        assert service.heard == 0


async def test_plain_http_settings_trust_no_certificate(tmp_path: Path) -> None:
    async with Tls(certificate(tmp_path, "127.0.0.1")) as service:
        async with Exchange(secure=False) as exchange:
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
        async with Exchange(secure=False) as exchange:
            url = service.url.replace("127.0.0.1", "localhost")
            answer = await exchange.send(HttpRequest(method="GET", url=url), WHO)
        assert answer.status == 200 and len(service.heard) == 1 and proxy.heard == []
