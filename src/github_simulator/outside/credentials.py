"""Who asks: tokens of Apps, installations and people, on the simulator's clock.

Rules:
- An App signs its own token (`app_jwt`); with it it gets tokens of its installations, which live
  one hour and can be narrowed to repositories and permissions, never widened.
- What a token may do is looked at when it is used: an installation that lost a permission, a
  repository or itself takes it from its tokens at once.
- A credential that is wrong, expired or revoked is 401 whatever is asked, also where none would
  be needed.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping

import msgspec

from agent_work_orders import ids
from github_simulator.asking.access import LEVELS
from github_simulator.outside import app_jwt, door_rules
from github_simulator.things.accounts import Account, Installation
from github_simulator.things.actor import EVERYTHING, NOBODY, Actor
from github_simulator.world import World, covers

TOKEN_LIFE_MS = 3_600_000


class Token(msgspec.Struct, kw_only=True):
    value: str
    account_id: int
    installation_id: int | None = None
    permissions: Mapping[str, str] = {}
    scopes: tuple[str, ...] | None = None
    """Of a person's classic token."""
    repositories: frozenset[int] | None = None
    expires_ms: int | None = None
    revoked: bool = False


class Credentials:
    def __init__(self, world: World) -> None:
        self._world = world
        self._tokens: dict[str, Token] = {}

    @property
    def tokens(self) -> list[Token]:
        """Every token ever given out, oldest first."""
        return list(self._tokens.values())

    def who(self, authorization: str | None) -> Actor:
        """The actor behind an `Authorization` header. Raises `Refusal` 401, or 404 for an App
        that does not exist."""
        if authorization is None:
            return NOBODY
        scheme, token = presented(authorization)
        if app_jwt.looks_like(token):
            door_rules.JWT_SCHEME.when(scheme != "bearer")
            return self._app(token)
        return self._holder(token)

    def of_person(
        self,
        account: Account,
        *,
        permissions: Mapping[str, str] | None = None,
        scopes: Iterable[str] = ("repo",),
        repositories: Iterable[int] | None = None,
        life_ms: int | None = None,
    ) -> Token:
        """A personal access token: classic with `scopes`, or fine-grained with `permissions`. Of
        scopes only `repo` lets change anything."""
        prefix = "ghp_" if permissions is None else "github_pat_"
        classic = tuple(scopes) if permissions is None else None
        if permissions is None:
            permissions = EVERYTHING if "repo" in (classic or ()) else {}
        return self._keep(
            Token(
                value=prefix + _letters(),
                account_id=account.id,
                permissions=dict(permissions),
                scopes=classic,
                repositories=None if repositories is None else frozenset(repositories),
                expires_ms=None if life_ms is None else self._world.now_ms() + life_ms,
            )
        )

    def of_installation(
        self,
        installation: Installation,
        *,
        permissions: Mapping[str, str] | None = None,
        repositories: frozenset[int] | None = None,
    ) -> Token:
        """An installation's token. `app_routes` has checked what was asked."""
        return self._keep(
            Token(
                value="ghs_" + _letters(),
                account_id=self._world.apps[installation.app_id].bot_id,
                installation_id=installation.id,
                permissions=dict(installation.permissions if permissions is None else permissions),
                repositories=repositories,
                expires_ms=self._world.now_ms() + TOKEN_LIFE_MS,
            )
        )

    def revoke(self, authorization: str | None) -> None:
        """The token that this request presented."""
        token = self._tokens.get(presented(authorization or "")[1])
        if token is not None:
            token.revoked = True

    def _keep(self, token: Token) -> Token:
        self._tokens[token.value] = token
        return token

    def _app(self, token: str) -> Actor:
        apps = self._world.apps

        def key_of(name: str) -> str | None:
            found = (a for a in apps.values() if name in (str(a.id), a.client_id))
            return next((app.public_key or None for app in found), None)

        try:
            name = app_jwt.issuer(token, key_of, self._world.now_ms())
        except app_jwt.Unreadable as error:
            rule = door_rules.JWT if error.status == 401 else door_rules.NO_SUCH_APP
            rule.when(True, error.message)
            return NOBODY
        app = next(a for a in apps.values() if name in (str(a.id), a.client_id))
        return Actor(kind="app", login=app.slug, account_id=app.bot_id, app_id=app.id)

    def _holder(self, value: str) -> Actor:
        token = self._tokens.get(value)
        door_rules.BAD_CREDENTIALS.when(token is None)
        if token is None:
            return NOBODY
        door_rules.REVOKED.when(token.revoked)
        expired = token.expires_ms is not None and self._world.now_ms() >= token.expires_ms
        door_rules.EXPIRED.when(expired)
        if token.installation_id is not None:
            return self._installation(token, token.installation_id)
        return Actor(
            kind="user",
            login=self._world.accounts[token.account_id].login,
            account_id=token.account_id,
            permissions=token.permissions,
            scopes=token.scopes,
            repositories=token.repositories,
        )

    def _installation(self, token: Token, installation_id: int) -> Actor:
        world = self._world
        installation = world.installations.get(installation_id)
        door_rules.UNINSTALLED.when(installation is None)
        if installation is None:
            return NOBODY
        bot = world.accounts[token.account_id]
        return Actor(
            kind="installation",
            login=bot.login,
            account_id=bot.id,
            app_id=installation.app_id,
            installation_id=installation.id,
            permissions=lesser(token.permissions, installation.permissions),
            repositories=reach(world, installation, token.repositories),
        )


def presented(authorization: str) -> tuple[str, str]:
    """The scheme in lower case and the token; none for a scheme that GitHub does not know."""
    scheme, _, value = authorization.strip().partition(" ")
    match scheme.lower():
        case "bearer" | "token":
            return scheme.lower(), value.strip()
        case "basic":
            return "basic", _basic(value.strip())
        case _:
            return scheme.lower(), ""


def limit_key(actor: Actor, client: str) -> str:
    """Whose budget a request uses: all tokens of an installation share one."""
    match actor.kind:
        case "installation":
            return f"installation:{actor.installation_id}"
        case "app":
            return f"app:{actor.app_id}"
        case "user":
            return f"user:{actor.account_id}"
        case "nobody":
            return f"nobody:{client}"


def reach(
    world: World, installation: Installation, chosen: frozenset[int] | None
) -> frozenset[int]:
    """The repositories that a token reaches now."""
    covered = {r.id for r in world.repositories.values() if covers(installation, r)}
    return frozenset(covered if chosen is None else covered & chosen)


def allows(held: str, wanted: str) -> bool:
    return LEVELS.index(held) >= LEVELS.index(wanted)


def lesser(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    """What both allow."""
    return {
        name: min(level, other[name], key=LEVELS.index)
        for name, level in one.items()
        if name in other
    }


def _basic(value: str) -> str:
    """The password, or the name when it stands alone: GitHub takes a token as either."""
    try:
        decoded = base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    name, _, password = decoded.partition(":")
    return name if password in ("", "x-oauth-basic") else password


def _letters() -> str:
    return ids.new_secret(36).replace("-", "A").replace("_", "B")[:36]
