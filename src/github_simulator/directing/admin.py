"""`/_simulator/`: for whoever directs the play from another process.

Without credentials, so only for this machine: a request with an `Origin` (a browser's page) or a
foreign `Host` is refused. Bodies are JSON objects; unknown fields are refused.

`GET records` is the truth for assertions: how many of each thing there are in each repository.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from github_simulator.directing import scenery
from github_simulator.directing.stage import Stage
from github_simulator.outside.app_routes import item
from github_simulator.outside.deliveries import Plan, is_loopback
from github_simulator.outside.faults import Fault
from github_simulator.outside.limits import Rules
from github_simulator.outside.wire import Exchange, Gone, TooLong
from github_simulator.resources import repositories
from github_simulator.things.git_store import GitRefused
from github_simulator.things.repository import Repository

JSON = {"content-type": "application/json; charset=utf-8"}
LATENCY_LIMIT_S = 10.0
SETTINGS = ("description", "homepage", *repositories.FLAGS)


class Webhook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    app_id: int
    url: str | None = None
    secret: str | None = None
    content_type: Literal["json", "form"] = "json"


class Time(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    advance_s: float = 0.0
    frozen: bool | None = None


class Release(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    order: list[int] | None = None


class Redelivery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    delivery_id: int


class Latency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    seconds: float


class AtOnce(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    count: int


class Nothing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


Verb = tuple[Any, Callable[[Stage, Any], Any]]


class Admin:
    def __init__(self, github: Stage) -> None:
        self._github = github

    async def serve(self, exchange: Exchange, path: str) -> None:
        request = exchange.request
        status = 200
        body: Any = {}
        try:
            raw = await exchange.body()
            host = request.headers.get("host", "")
            if "origin" in request.headers or not is_loopback(f"http://{host}"):
                status, body = 403, {"message": "Only for programs on this machine"}
            else:
                verb = VERBS.get((request.method, path))
                if verb is None:
                    status, body = 404, {"message": "Not Found", "verbs": _names()}
                else:
                    kind, perform = verb
                    body = perform(self._github, msgspec.json.decode(raw or b"{}", type=kind))
        except (msgspec.DecodeError, ValueError, GitRefused) as error:
            status, body = 422, {"message": str(error)}
        except scenery.Missing as error:
            status, body = 404, {"message": f"There is no {error.args[0]}"}
        except TooLong:
            status, body = 413, {"message": "Payload too large"}
        except Gone:
            exchange.hang_up()
            return
        await exchange.answer(status, JSON, msgspec.json.encode(body))


def _names() -> list[str]:
    return sorted(f"{method} /_simulator{path}" for method, path in VERBS)


def state(github: Stage, _: Nothing) -> dict[str, Any]:
    world = github.world
    return {
        "url": github.url,
        "now_ms": github.clock.now_ms(),
        "accounts": sorted(account.login for account in world.accounts.values()),
        "apps": [{"id": app.id, "slug": app.slug} for app in world.apps.values()],
        "installations": [
            {"id": one.id, "app_id": one.app_id, "account": world.accounts[one.account_id].login}
            for one in world.installations.values()
        ],
        "repositories": [world.full_name(one) for one in world.repositories.values()],
        "verbs": _names(),
    }


def records(github: Stage, _: Nothing) -> dict[str, Any]:
    world = github.world
    return {world.full_name(one): _record(github, one) for one in world.repositories.values()}


def _record(github: Stage, here: Repository) -> dict[str, Any]:
    """Items as they are stored; times in milliseconds, accounts by id and by name."""
    logins = {account.id: account.login for account in github.world.accounts.values()}
    talked: list[Any] = [
        *here.issues.values(),
        *here.comments.values(),
        *here.review_comments.values(),
    ]
    things: dict[str, list[Any]] = {
        "issues": [issue for issue in here.issues.values() if not issue.is_pull],
        "pull_requests": [
            {
                **msgspec.to_builtins(pull),
                **{
                    name: getattr(here.issues[pull.number], name)
                    for name in ("title", "body", "state", "labels", "author_id")
                },
            }
            for pull in here.pulls.values()
        ],
        "comments": list(here.comments.values()),
        "reviews": list(here.reviews.values()),
        "review_comments": list(here.review_comments.values()),
        "checks": list(here.check_runs.values()),
        "statuses": list(here.statuses),
        "reactions": [
            {**msgspec.to_builtins(reaction), "on": thing.id, "number": thing.number}
            for thing in talked
            for reaction in thing.reactions
        ],
        "merges": [pull for pull in here.pulls.values() if pull.merged],
        "releases": list(here.releases.values()),
        "dispatches": list(here.dispatches),
    }
    items = {
        name: [_named(msgspec.to_builtins(thing), logins) for thing in found]
        for name, found in things.items()
    }
    return {
        "counts": {name: len(found) for name, found in items.items()},
        "branches": github.world.git(here).refs("refs/heads/"),
        "protections": msgspec.to_builtins(here.protections),
        "settings": {name: getattr(here, name) for name in SETTINGS},
        **items,
    }


def _named(thing: dict[str, Any], logins: dict[int, str]) -> dict[str, Any]:
    for field in ("author_id", "user_id", "creator_id", "actor_id"):
        if thing.get(field) in logins:
            thing["login"] = logins[thing[field]]
    return thing


def requests(github: Stage, _: Nothing) -> dict[str, Any]:
    return {
        "total": github.requests.total,
        "counts": github.requests.counts(),
        "sent_while_limited": msgspec.to_builtins(github.sent_while_limited),
        "items": msgspec.to_builtins(github.requests.all),
    }


def set_webhook(github: Stage, asked: Webhook) -> dict[str, Any]:
    app = scenery.app(github.world, asked.app_id)
    app.webhook_url = asked.url
    app.webhook_secret = asked.secret or app.webhook_secret
    app.webhook_content_type = asked.content_type
    return {}


def set_time(github: Stage, asked: Time) -> dict[str, Any]:
    if asked.frozen is True:
        github.clock.freeze()
    elif asked.frozen is False:
        github.clock.thaw()
    return {"now_ms": github.clock.advance(asked.advance_s)}


def set_limits(github: Stage, asked: Rules) -> dict[str, Any]:
    github.limits.rules = asked
    return msgspec.to_builtins(asked)  # type: ignore[no-any-return]


def set_latency(github: Stage, asked: Latency) -> dict[str, Any]:
    github.api.latency_s = min(max(asked.seconds, 0.0), LATENCY_LIMIT_S)
    return {"seconds": github.api.latency_s}


def add_fault(github: Stage, asked: Fault) -> dict[str, Any]:
    github.faults.add(asked)
    return faults(github, Nothing())


def faults(github: Stage, _: Nothing) -> dict[str, Any]:
    return {
        "waiting": msgspec.to_builtins(github.faults.waiting),
        "hits": msgspec.to_builtins(github.faults.hits),
    }


def clear_faults(github: Stage, _: Nothing) -> dict[str, Any]:
    github.faults.clear()
    return faults(github, Nothing())


def deliveries(github: Stage, _: Nothing) -> dict[str, Any]:
    kept = [item(delivery) for delivery in github.deliveries.kept]
    return {"held": github.deliveries.held, "items": kept}


def plan(github: Stage, asked: Plan) -> dict[str, Any]:
    github.deliveries.script(asked)
    return {}


def at_once(github: Stage, asked: AtOnce) -> dict[str, Any]:
    github.deliveries.widen(asked.count)
    return {}


def hold(github: Stage, _: Nothing) -> dict[str, Any]:
    github.deliveries.hold()
    return {}


def release(github: Stage, asked: Release) -> dict[str, Any]:
    held = github.deliveries.held
    if asked.order is not None and any(not 0 <= at < held for at in asked.order):
        raise ValueError(f"positions go from 0 to {held - 1}")
    return {"released": github.deliveries.release(asked.order)}


def redeliver(github: Stage, asked: Redelivery) -> dict[str, Any]:
    found = (d for d in github.deliveries.kept if d.id == asked.delivery_id)
    delivery = next(found, None)
    if delivery is None:
        raise scenery.Missing(f"delivery {asked.delivery_id}")
    return {"id": github.deliveries.again(delivery).id}


VERBS: dict[tuple[str, str], Verb] = {
    ("GET", "/"): (Nothing, state),
    ("GET", "/records"): (Nothing, records),
    ("GET", "/requests"): (Nothing, requests),
    ("GET", "/faults"): (Nothing, faults),
    ("GET", "/deliveries"): (Nothing, deliveries),
    ("POST", "/accounts"): (scenery.NewAccount, scenery.add_account),
    ("POST", "/repositories"): (scenery.NewRepository, scenery.add_repository),
    ("POST", "/repositories/change"): (scenery.Change, scenery.change_repository),
    ("POST", "/roles"): (scenery.NewRole, scenery.set_role),
    ("POST", "/apps"): (scenery.NewApp, scenery.add_app),
    ("POST", "/apps/webhook"): (Webhook, set_webhook),
    ("POST", "/installations"): (scenery.NewInstallation, scenery.install),
    ("POST", "/installations/change"): (scenery.Installed, scenery.change_installation),
    ("POST", "/hooks"): (scenery.NewHook, scenery.add_hook),
    ("POST", "/tokens"): (scenery.NewToken, scenery.add_token),
    ("POST", "/act"): (scenery.Act, scenery.act),
    ("POST", "/commits"): (scenery.Commit, scenery.commit),
    ("POST", "/rerun"): (scenery.Rerun, scenery.rerun),
    ("POST", "/faults"): (Fault, add_fault),
    ("DELETE", "/faults"): (Nothing, clear_faults),
    ("POST", "/limits"): (Rules, set_limits),
    ("POST", "/latency"): (Latency, set_latency),
    ("POST", "/clock"): (Time, set_time),
    ("POST", "/deliveries/plan"): (Plan, plan),
    ("POST", "/deliveries/at_once"): (AtOnce, at_once),
    ("POST", "/deliveries/hold"): (Nothing, hold),
    ("POST", "/deliveries/release"): (Release, release),
    ("POST", "/deliveries/redeliver"): (Redelivery, redeliver),
}
