"""The dashboard: files that were built into the package, read once when the server starts.

Only what is in that map can be asked for, so there is no path to escape from it. The files hold no
secret and need no key: what they show, they ask of the API. The page itself gets a fresh nonce
with every answer; everything else has its content's hash in its name and never changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

import msgspec
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agent_work_orders import ids
from agent_work_orders.errors import NotFound

FOLDER = Path(__file__).parent / "dashboard"
PAGE = "index.html"
NONCE = b"__CSP_NONCE__"
# Far above what the dashboard has; a folder that is something else is not read into memory.
MAX_FILE_BYTES = 16 * 1024 * 1024
# Addresses of the dashboard's pages: these answer with the page whatever is accepted.
PAGES = frozenset({"", "orders", "new", "workflows", "approvals", "about", "sign-in"})
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_FOREVER = "public, max-age=31536000, immutable"
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".woff": "font/woff",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8">
<title>Agent Work Orders</title>
<h1>The dashboard is not built</h1>
<p>The server runs and its API works. To build the dashboard, run <code>make web</code> in the
source tree, then start the server again. An installed package has it already.</p>
<p><a href="/docs">The API</a></p></html>
"""


class File(msgspec.Struct, frozen=True, kw_only=True):
    content: bytes
    media_type: str
    etag: str
    lasting: bool
    """Whether its name changes with its content."""
    packed: dict[str, bytes]
    """The same compressed, by encoding."""


def read(folder: Path = FOLDER) -> tuple[bytes | None, dict[str, File]]:
    """The page (None when nothing was built) and the other files by address."""
    contents: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        address = "/" + path.relative_to(folder).as_posix()
        known = path.is_file() and not path.is_symlink() and "/." not in address
        if known and path.stat().st_size <= MAX_FILE_BYTES:
            contents[address] = path.read_bytes()
    page = contents.pop(f"/{PAGE}", None)
    suffixes = tuple(suffix for _, suffix in ENCODINGS)
    files = {
        address: File(
            content=content,
            media_type=_TYPES.get(Path(address).suffix, "application/octet-stream"),
            etag=f'"{hashlib.sha256(content).hexdigest()[:32]}"',
            lasting=address.startswith("/assets/"),
            packed={
                name: contents[address + suffix]
                for name, suffix in ENCODINGS
                if address + suffix in contents
            },
        )
        for address, content in contents.items()
        if not address.endswith(suffixes)
    }
    return page, files


class Dashboard:
    """Answers what is the dashboard's and passes on everything else. `others` are the first parts
    of the API's own addresses: nothing below them is ever a page."""

    def __init__(self, app: ASGIApp, *, others: Iterable[str], folder: Path = FOLDER) -> None:
        self._app = app
        self._others = frozenset(others)
        self._page, self._files = read(folder)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._answer(scope) if scope["type"] == "http" else None
        await (found or self._app)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        if scope["method"] not in ("GET", "HEAD"):
            return None
        path: str = scope["path"]
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        file = self._files.get(path)
        if file is not None:
            return send_file(file, headers)
        first = _first(path)
        if first == "assets":
            raise NotFound(
                "file_unknown",
                "The dashboard has no such file",
                hint="Reload the page: the server has another version of it.",
            )
        if first in self._others:
            return None
        if first in PAGES or "text/html" in headers.get(b"accept", ""):
            return self._page_with_nonce()
        return None

    def _page_with_nonce(self) -> Response:
        if self._page is None:
            return Response(_NOT_BUILT, status_code=503, media_type="text/html")
        nonce = ids.new_secret(18)
        return Response(
            self._page.replace(NONCE, nonce.encode()),
            media_type="text/html",
            headers={"Content-Security-Policy": policy(nonce), "Cache-Control": "no-store"},
        )


def is_visit(scope: Scope) -> bool:
    """Whether a person looks at the answer: one of the dashboard's addresses, in a browser."""
    if scope.get("method") != "GET" or _first(scope.get("path", "")) not in PAGES:
        return False
    return any(
        name == b"accept" and b"text/html" in value for name, value in scope.get("headers", ())
    )


def trouble(what: str, hint: str, quoted: str) -> bytes:
    """The page for a visit that gets no page; `quoted` is for who asks for help."""
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Agent Work Orders</title>'
        f"<h1>{escape(what)}</h1><p>{escape(hint)}</p><p>{escape(quoted)}</p>"
        '<p><a href="/">To the dashboard</a></p></html>'
    )
    return page.encode("utf-8", "replace")


def _first(path: str) -> str:
    return path.strip("/").split("/", 1)[0]


def policy(nonce: str) -> str:
    """Nothing inline but styles with this nonce, and nothing from anywhere else."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; "
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )


def send_file(file: File, headers: Mapping[bytes, str]) -> Response:
    sent = {
        "ETag": file.etag,
        "Cache-Control": _FOREVER if file.lasting else "no-cache",
        "Vary": "Accept-Encoding",
    }
    known = [one.strip().removeprefix("W/") for one in headers.get(b"if-none-match", "").split(",")]
    if file.etag in known or "*" in known:
        return Response(status_code=304, headers=sent)
    content = file.content
    for encoding in accepted(headers.get(b"accept-encoding", "")):
        if encoding in file.packed:
            content, sent["Content-Encoding"] = file.packed[encoding], encoding
            break
    return Response(content, media_type=file.media_type, headers=sent)


def accepted(header: str) -> list[str]:
    """The encodings we have that a client takes, ours first."""
    taken = set()
    for part in header.lower().split(","):
        name, _, options = part.partition(";")
        weight = options.replace(" ", "").removeprefix("q=")
        if weight.strip("0.") or not options.strip():
            taken.add(name.strip())
    return [name for name, _ in ENCODINGS if name in taken]
