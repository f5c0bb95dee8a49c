"""The dashboard's files: known ones only, compressed, cached; the page with a fresh nonce."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent_work_orders.api import app as apps
from agent_work_orders.api import dashboard_files
from agent_work_orders.api.app import create_app
from agent_work_orders.bootstrap import House

SCRIPT = b"console.log('hello');" * 50
PAGE = b'<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__"><div id="root"></div>'


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "dashboard"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_bytes(PAGE)
    (folder / "favicon.svg").write_bytes(b"<svg/>")
    (folder / "assets" / "main-abc.js").write_bytes(SCRIPT)
    (folder / "assets" / "main-abc.js.gz").write_bytes(gzip.compress(SCRIPT))
    (folder / "assets" / "strange.exe").write_bytes(b"MZ")
    (tmp_path / "secret.txt").write_text("not for the web")
    (folder / ".vite").mkdir()
    (folder / ".vite" / "manifest.json").write_text("not for the web")
    (folder / "assets" / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


@pytest.fixture
def page(house: House, built: Path, made_client: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stranger's browser."""
    serving = dashboard_files.Dashboard
    monkeypatch.setattr(apps, "Dashboard", lambda app, **given: serving(app, folder=built, **given))
    return made_client(create_app(house), None, **{"Accept-Encoding": "identity"})


@pytest.mark.parametrize(
    "path", ["/", "/orders", "/orders/wo-1", "/new", "/workflows/x", "/approvals/a:b/c[1]",
             "/about", "/sign-in", "/approvals"]
)  # fmt: skip
async def test_pages_are_the_page_with_a_fresh_nonce(page: httpx.AsyncClient, path: str) -> None:
    seen = set()
    for _ in range(2):
        answer = await page.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["cache-control"] == "no-store"
        policy = answer.headers["content-security-policy"]
        assert answer.headers.get_list("content-security-policy") == [policy]
        [nonce] = re.findall(r"'nonce-([\w-]{20,})'", policy)
        assert f'content="{nonce}"' in answer.text
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-")
        assert "unsafe" not in policy and "frame-ancestors 'none'" in policy
        seen.add(nonce)
    assert len(seen) == 2


async def test_unknown_addresses_are_pages_for_people_only(page: httpx.AsyncClient) -> None:
    people = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    assert (await page.get("/lost", headers=people)).status_code == 200
    assert (await page.get("/lost")).status_code in (401, 404)
    assert (await page.post("/orders", headers=people)).status_code in (401, 404, 405)
    for path in ("/api/nothing", "/api", "/task/x", "/status", "/assets/none.js"):
        answer = await page.get(path, headers=people)
        assert answer.headers["content-type"] == "application/problem+json", path
    gone = await page.get("/assets/none.js", headers=people)
    assert (gone.status_code, gone.json()["code"]) == (404, "file_unknown")
    assert (await page.get("/healthz", headers=people)).json() == {"status": "ok"}


async def test_assets_are_kept_forever_and_sent_compressed(page: httpx.AsyncClient) -> None:
    address = "/assets/main-abc.js"
    plain = await page.get(address)
    assert plain.content == SCRIPT
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert plain.headers["x-content-type-options"] == "nosniff"
    packed = await page.get(address, headers={"Accept-Encoding": "gzip, br"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["vary"] == "Accept-Encoding"
    assert packed.content == SCRIPT
    assert int(packed.headers["content-length"]) < len(SCRIPT)
    same = await page.get(address, headers={"If-None-Match": f"W/{plain.headers['etag']}"})
    assert (same.status_code, same.content) == (304, b"")
    icon = await page.get("/favicon.svg")
    assert icon.headers["cache-control"] == "no-cache"
    assert (await page.get("/assets/strange.exe")).headers["content-type"] == (
        "application/octet-stream"
    )


@pytest.mark.fault("K6")
@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/assets//etc/passwd", "/assets/link.txt", "/index.html/../../secret.txt",
        "/assets/main-abc.js.gz", "/assets/main-abc.js%00", "/assets/",
        "/.vite/manifest.json",
    ],
)  # fmt: skip
async def test_nothing_but_the_files_can_be_asked_for(page: httpx.AsyncClient, path: str) -> None:
    answer = await page.get(path)
    assert answer.status_code in (400, 401, 404)
    assert "not for the web" not in answer.text


async def test_without_a_build_the_page_says_how(
    house: House, tmp_path: Path, made_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    serving = dashboard_files.Dashboard
    monkeypatch.setattr(
        apps, "Dashboard", lambda app, **given: serving(app, folder=tmp_path / "no", **given)
    )
    async with made_client(create_app(house), None) as client:
        answer = await client.get("/")
        assert answer.status_code == 503
        assert answer.headers["content-type"].startswith("text/html")
        assert "make web" in answer.text


@pytest.mark.parametrize(
    ("header", "expected"),
    [("gzip, deflate, br", ["br", "gzip"]), ("", []), ("identity", []), ("gzip;q=0", []),
     ("gzip; q=0.5, br;q=0.0", ["gzip"]), ("GZIP", ["gzip"]), ("zstd", [])],
)  # fmt: skip
def test_accepted_encodings(header: str, expected: list[str]) -> None:
    assert dashboard_files.accepted(header) == expected
