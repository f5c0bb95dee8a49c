"""The pages of GitHub that people meet when they set up an App: making it from a manifest, and
installing it. As on GitHub, the one is sent as a form, and answers with a code for the App's key.

Who looks at them is taken for somebody signed in who may: the person whose page it is.
"""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import msgspec

from agent_work_orders import ids
from github_simulator.asking.access import LEVELS
from github_simulator.call import Answer, Call
from github_simulator.changes import founding
from github_simulator.outside import app_jwt
from github_simulator.outside import door_rules as rules
from github_simulator.outside.wire import Exchange
from github_simulator.shapes import people
from github_simulator.things.accounts import Account, App
from github_simulator.world import World

# docs: "you must complete … within one hour".
CODE_LIVES_MS = 3_600_000
FORM_LIMIT_BYTES = 65_536
_NEW = re.compile(r"/(?:settings|organizations/(?P<org>[^/]+)/settings)/apps/new")
_INSTALL = re.compile(r"/apps/(?P<slug>[^/]+)/installations/new")
_PAGE = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}


class NotDone(Exception):
    """Shown on the page, as GitHub shows it."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    url: str
    redirect_url: str
    hook_attributes: dict[str, Any] = {}
    default_permissions: dict[str, str] = {}
    default_events: list[str] = []


class WebPages:
    def __init__(self, world: World) -> None:
        self._world = world
        # By code: the App, its private key, and until when.
        self._made: dict[str, tuple[App, str, int]] = {}

    async def serve(self, exchange: Exchange, path: str) -> bool:
        """Whether it was one of these pages."""
        new, install = _NEW.fullmatch(path), _INSTALL.fullmatch(path)
        method = exchange.request.method
        try:
            if new and method == "POST":
                place = self._create(new["org"], exchange, await exchange.body(FORM_LIMIT_BYTES))
                await exchange.answer(302, {"location": place}, b"")
            elif install and method in ("GET", "POST"):
                shown = self._install(install["slug"], done=method == "POST")
                await exchange.answer(200, _PAGE, shown.encode())
            else:
                return False
        except NotDone as refusal:
            await exchange.answer(422, _PAGE, _page("Not done", html.escape(str(refusal))).encode())
        return True

    def _create(self, org: str | None, exchange: Exchange, body: bytes) -> str:
        form = parse_qs(body.decode("utf-8", "replace"))
        try:
            manifest = msgspec.json.decode(form.get("manifest", [""])[0], type=Manifest)
        except msgspec.DecodeError as error:
            raise NotDone(f"The manifest is not valid: {error}") from None
        owner = self._owner(org)
        slug = re.sub(r"[^a-z0-9]+", "-", manifest.name.lower()).strip("-")
        taken = {app.slug for app in self._world.apps.values()}
        if not slug or slug in taken:
            raise NotDone("Name is already taken")
        if not all(_is_address(url) for url in (manifest.url, manifest.redirect_url)):
            raise NotDone("Url must be a valid URL")
        if unknown := {*manifest.default_permissions.values()} - {*LEVELS}:
            raise NotDone(f"Default permission records are not valid: {sorted(unknown)}")
        hook = manifest.hook_attributes.get("url")
        private, public = app_jwt.new_key_pair()
        app = founding.add_app(
            self._world,
            slug,
            owner=owner,
            public_key=public,
            permissions=manifest.default_permissions,
            events=manifest.default_events,
            webhook_url=hook if manifest.hook_attributes.get("active", True) else None,
            webhook_secret=ids.new_secret() if hook else None,
        )
        code = ids.new_secret()
        self._made[code] = (app, private, self._world.now_ms() + CODE_LIVES_MS)
        given = {"code": code, "state": exchange.request.query.get("state", "")}
        return f"{manifest.redirect_url}?{urlencode(given)}"

    def _owner(self, org: str | None) -> Account:
        if org is not None:
            found = self._world.account(org)
            if found is None or found.kind != "Organization":
                raise NotDone("Not Found")
            return found
        people_here = [one for one in self._world.accounts.values() if one.kind == "User"]
        if not people_here:
            raise NotDone("Nobody is signed in")
        return people_here[0]

    def _install(self, slug: str, *, done: bool) -> str:
        app = next((one for one in self._world.apps.values() if one.slug == slug), None)
        if app is None:
            raise NotDone("Not Found")
        owner = self._world.accounts[app.owner_id]
        name, login = html.escape(app.name), html.escape(owner.login)
        if not done:
            form = f'<form method="post"><button>Install on all of {login}</button></form>'
            return _page(f"Install {name}", form)
        here = self._world.installations.values()
        if not any((one.app_id, one.account_id) == (app.id, owner.id) for one in here):
            founding.install(self._world, app, owner)
        return _page(f"{name} is installed", f"On all repositories of {login}.")

    def convert(self, call: Call) -> Answer:
        """POST /app-manifests/{code}/conversions: once, and within the hour."""
        app, private, until_ms = rules.NO_SUCH_CODE.found(self._made.pop(call.params["code"], None))
        rules.NO_SUCH_CODE.when(call.now_ms > until_ms)
        body = {
            **people.app(call.world, app),
            "client_secret": ids.new_secret(),
            "webhook_secret": app.webhook_secret,
            "pem": private,
        }
        return Answer(status=201, body=body)


def _is_address(text: str) -> bool:
    parts = urlsplit(text)
    return (
        parts.scheme in ("http", "https") and bool(parts.netloc) and quote(text, ":/?=&.") == text
    )


def _page(title: str, body: str) -> str:
    return f"<!doctype html><title>{title}</title><h1>{title}</h1>{body}"
