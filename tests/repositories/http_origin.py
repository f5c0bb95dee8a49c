"""A git server on loopback that asks for a login: `git http-backend` behind a small HTTP server."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class HttpOrigin:
    """Serves the bare repositories below a folder to who gives one of `passwords`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.passwords: set[str] = set()
        self.public = False
        self.redirect = ""
        self.asked: list[tuple[str, str, str]] = []
        """(method, path, password)"""
        self.pushing = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        self.url = ""

    def allowed(self, password: str, service: str) -> bool:
        if self.public and "receive-pack" not in service:
            return True
        return password in self.passwords


def _handler(origin: HttpOrigin) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            return

        def _serve(self) -> None:
            body = self._body()
            header = self.headers.get("Authorization", "")
            login = base64.b64decode(header.removeprefix("Basic ")).decode() if header else ""
            password = login.partition(":")[2]
            origin.asked.append((self.command, self.path, password))
            if origin.redirect:
                self._say(302, {"Location": origin.redirect + self.path})
            elif not origin.allowed(password, self.path):
                self._say(401, {"WWW-Authenticate": 'Basic realm="git"'})
            else:
                if self.path.endswith("/git-receive-pack"):
                    origin.pushing.set()
                    origin.go_on.wait(60)
                self._backend(body)

        do_GET = do_POST = _serve  # noqa: N815 - the names that http.server calls

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def _backend(self, body: bytes) -> None:
            path, _, query = self.path.partition("?")
            done = subprocess.run(
                ["git", "http-backend"],
                input=body,
                capture_output=True,
                check=True,
                env={
                    "PATH": os.environ["PATH"],
                    "GIT_PROJECT_ROOT": str(origin.folder),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "GIT_CONFIG_COUNT": "1",
                    "GIT_CONFIG_KEY_0": "http.receivepack",
                    "GIT_CONFIG_VALUE_0": "true",
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                },
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            status = int(headers.pop("Status", "200").split(" ")[0])
            self._say(status, headers, content)

        def _say(self, status: int, headers: dict[str, str], content: bytes = b"") -> None:
            self.send_response(status)
            for name, text in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(content)

    return Handler


@contextmanager
def http_origin(folder: Path) -> Iterator[HttpOrigin]:
    origin = HttpOrigin(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(origin))
    server.daemon_threads = True
    origin.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield origin
    finally:
        origin.go_on.set()
        server.shutdown()
        thread.join()
        server.server_close()
