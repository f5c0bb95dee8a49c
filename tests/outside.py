"""What lies between a server and the world, on loopback: a service behind TLS, and a proxy."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def certificate(folder: Path, name: str) -> Path:
    """A key and a certificate that it signed itself, for an address or a name."""
    key = ec.generate_private_key(ec.SECP256R1())
    itself = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(itself)
        .issuer_name(itself)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begun)
        .not_valid_after(begun + timedelta(days=36_500))
        .add_extension(x509.SubjectAlternativeName([_general(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{name}.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


class Tls:
    """A service behind TLS that counts what it hears, and has nothing to say."""

    def __init__(self, file: Path, status: str = "204 X") -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(file)
        self._status = status
        self.heard = 0

    async def __aenter__(self) -> Tls:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}/"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.heard += 1
        writer.write(f"HTTP/1.1 {self._status}\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()


class TlsBefore:
    """TLS before a plain service of this machine."""

    def __init__(self, file: Path, url: str) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(file)
        self._behind = int(url.rstrip("/").rpartition(":")[2])

    async def __aenter__(self) -> TlsBefore:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs, ours = await asyncio.open_connection("127.0.0.1", self._behind)
        await asyncio.gather(_copy(reader, ours), _copy(theirs, writer))


class ConnectProxy:
    """A company's way out: it takes CONNECT only, and whatever is asked for, it connects with
    `port` of this machine. `asked` are the heads it got."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.asked: list[str] = []

    async def __aenter__(self) -> ConnectProxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head)
        if not head.startswith("CONNECT "):
            writer.write(b"HTTP/1.1 405 X\r\nConnection: close\r\n\r\n")
            writer.close()
            return
        theirs, ours = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"HTTP/1.1 200 X\r\n\r\n")
        await asyncio.gather(_copy(reader, ours), _copy(theirs, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
