"""What an App asks about itself: its installations, their tokens, its webhook's deliveries.

These routes stand apart from the others since they need the credentials and the deliveries,
which belong to the outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from github_simulator.asking import access
from github_simulator.asking.access import LEVELS
from github_simulator.asking.paging import page
from github_simulator.call import Answer, Call, Field, Handler, Route
from github_simulator.changes import founding
from github_simulator.outside import door_rules as rules
from github_simulator.outside.credentials import Credentials, allows, reach
from github_simulator.outside.deliveries import Deliveries, Delivery
from github_simulator.outside.web_pages import WebPages
from github_simulator.shapes import people, repo
from github_simulator.things.accounts import Installation
from github_simulator.things.stamps import stamp

# docs: "up to 500 repositories".
REPOSITORIES_MOST = 500
DELIVERIES_MOST = 100
# docs, "Redelivering webhooks": deliveries of the past 3 days are listed and can be redelivered.
DELIVERIES_KEPT_MS = 3 * 86_400_000
NARROWED = (
    Field(name="repositories", kinds=("array",), items=("string",)),
    Field(name="repository_ids", kinds=("array",), items=("integer",)),
    Field(name="permissions", kinds=("object",)),
)
CONFIG = (
    Field(name="url"),
    Field(name="content_type"),
    Field(name="secret"),
    Field(name="insecure_ssl", kinds=("string", "number", "integer")),
)

CHOICES = {"list-webhook-deliveries": {"status": ("success", "failure")}}

# Method, template, operation, handler, fields of the body.
Row = tuple[str, str, str, Handler, tuple[Field, ...]]


class AppRoutes:
    def __init__(self, credentials: Credentials, deliveries: Deliveries, pages: WebPages) -> None:
        self._pages = pages
        self._credentials = credentials
        self._deliveries = deliveries

    def routes(self) -> tuple[Route, ...]:
        made = [
            Route(
                method=m,
                template=t,
                operation=f"apps/{o}",
                handler=h,
                body=b,
                by="app",
                choices=CHOICES.get(o, {}),
            )
            for m, t, o, h, b in (*self._of_installations(), *self._of_the_hook())
        ]
        revoking = Route(
            method="DELETE",
            template="/installation/token",
            operation="apps/revoke-installation-access-token",
            handler=self._revoke,
            by="installation",
        )
        converting = Route(
            method="POST",
            template="/app-manifests/{code}/conversions",
            operation="apps/create-from-manifest",
            handler=self._pages.convert,
            by="open",
        )
        return (*made, revoking, converting)

    def _of_installations(self) -> tuple[Row, ...]:
        one = "/app/installations/{installation_id}"
        here = "/repos/{owner}/{repo}/installation"
        user, org = "/users/{username}/installation", "/orgs/{org}/installation"
        minting = "create-installation-access-token"
        return (
            ("GET", "/app", "get-authenticated", self._app, ()),
            ("GET", "/app/installations", "list-installations", self._list, ()),
            ("GET", one, "get-installation", self._one, ()),
            ("DELETE", one, "delete-installation", self._uninstall, ()),
            ("PUT", f"{one}/suspended", "suspend-installation", self._suspend, ()),
            ("DELETE", f"{one}/suspended", "unsuspend-installation", self._unsuspend, ()),
            ("POST", f"{one}/access_tokens", minting, self._token, NARROWED),
            ("GET", here, "get-repo-installation", self._of_repository, ()),
            ("GET", user, "get-user-installation", self._of_account, ()),
            ("GET", org, "get-org-installation", self._of_account, ()),
        )

    def _of_the_hook(self) -> tuple[Row, ...]:
        config, sent = "/app/hook/config", "/app/hook/deliveries"
        one = sent + "/{delivery_id}"
        return (
            ("GET", config, "get-webhook-config-for-app", self._hook, ()),
            ("PATCH", config, "update-webhook-config-for-app", self._set_hook, CONFIG),
            ("GET", sent, "list-webhook-deliveries", self._sent, ()),
            ("GET", one, "get-webhook-delivery", self._sent_one, ()),
            ("POST", f"{one}/attempts", "redeliver-webhook-delivery", self._redeliver, ()),
        )

    def _app(self, call: Call) -> Answer:
        mine = self._mine(call)
        app = call.world.apps[_app_id(call)]
        return Answer(body={**people.app(call.world, app), "installations_count": len(mine)})

    def _list(self, call: Call) -> Answer:
        return page(call, self._mine(call), lambda one: people.installation(call.world, one))

    def _one(self, call: Call) -> Answer:
        return Answer(body=people.installation(call.world, self._asked(call)))

    def _uninstall(self, call: Call) -> Answer:
        founding.uninstall(call.world, self._asked(call), call.world.sender(call.actor))
        return Answer(status=204)

    def _suspend(self, call: Call) -> Answer:
        founding.suspend(call.world, self._asked(call), call.world.sender(call.actor))
        return Answer(status=204)

    def _unsuspend(self, call: Call) -> Answer:
        founding.unsuspend(call.world, self._asked(call), call.world.sender(call.actor))
        return Answer(status=204)

    def _of_repository(self, call: Call) -> Answer:
        name = f"{call.params['owner']}/{call.params['repo']}"
        found = call.world.repository(name)
        moved = call.world.moved(name) if found is None else None
        if moved is not None:
            access.redirect(call, moved)
        here = [] if found is None else list(call.world.installations_on(found))
        mine = [i for i in here if i.app_id == call.actor.app_id]
        installation = rules.NOT_INSTALLED.found(mine[0] if mine else None)
        return Answer(body=people.installation(call.world, installation))

    def _of_account(self, call: Call) -> Answer:
        login = call.params.get("username") or call.params.get("org") or ""
        account = call.world.account(login)
        mine = [i for i in self._mine(call) if account and i.account_id == account.id]
        installation = rules.NOT_INSTALLED.found(mine[0] if mine else None)
        return Answer(body=people.installation(call.world, installation))

    def _token(self, call: Call) -> Answer:
        installation = self._asked(call)
        rules.SUSPENDED.when(installation.suspended_ms is not None)
        asked = call.body or {}
        permissions = _permissions(installation, asked.get("permissions"))
        chosen = _repositories(call, installation, asked)
        token = self._credentials.of_installation(
            installation, permissions=permissions, repositories=chosen
        )
        assert token.expires_ms is not None
        all_of_them = installation.repository_ids is None and chosen is None
        body: dict[str, Any] = {
            "token": token.value,
            "expires_at": stamp(token.expires_ms),
            "permissions": dict(token.permissions),
            "repository_selection": "all" if all_of_them else "selected",
        }
        if chosen is not None:
            found = (call.world.repositories[i] for i in sorted(chosen))
            body["repositories"] = [repo.repository(call.world, r) for r in found]
        return Answer(status=201, body=body)

    def _revoke(self, call: Call) -> Answer:
        self._credentials.revoke(call.headers.get("authorization"))
        return Answer(status=204)

    def _hook(self, call: Call) -> Answer:
        app = call.world.apps[_app_id(call)]
        body = {
            "content_type": app.webhook_content_type,
            "insecure_ssl": "0",
            "url": app.webhook_url or "",
        }
        if app.webhook_secret:
            body["secret"] = "********"
        return Answer(body=body)

    def _set_hook(self, call: Call) -> Answer:
        app, asked = call.world.apps[_app_id(call)], call.body or {}
        app.webhook_url = asked.get("url", app.webhook_url)
        app.webhook_secret = asked.get("secret", app.webhook_secret)
        kind = asked.get("content_type", app.webhook_content_type)
        # As GitHub describes it, form is the default.
        app.webhook_content_type = kind if kind in ("json", "form") else "form"
        return self._hook(call)

    def _sent(self, call: Call) -> Answer:
        """Newest first, what is under way not yet; the cursor is the id after which the next
        page starts."""
        every = self._deliveries.of_app(_app_id(call))
        mine = [d for d in every if d.status != "pending" and not _too_old(call, d)]
        mine.sort(key=lambda d: d.id, reverse=True)
        asked = call.query.get("per_page", "")
        size = min(int(asked) if asked.isdigit() else 30, DELIVERIES_MOST)
        cursor = call.query.get("cursor", "")
        if cursor.isdigit():
            mine = [d for d in mine if d.id < int(cursor)]
        status = call.query.get("status")
        if status in ("success", "failure"):
            mine = [d for d in mine if (200 <= d.status_code < 300) == (status == "success")]
        shown, headers = mine[:size], {}
        if len(mine) > size:
            address = f"{call.world.api_url}/app/hook/deliveries"
            query = f"per_page={size}&cursor={shown[-1].id}"
            query += f"&status={status}" if status else ""
            headers["link"] = f'<{address}?{query}>; rel="next"'
        return Answer(body=[item(d) for d in shown], headers=headers)

    def _sent_one(self, call: Call) -> Answer:
        return Answer(body=whole(self._delivery(call)))

    def _redeliver(self, call: Call) -> Answer:
        self._deliveries.again(self._delivery(call))
        return Answer(status=202, body={})

    def _delivery(self, call: Call) -> Delivery:
        number = int(call.params["delivery_id"])
        found = rules.NO_DELIVERY.found(self._deliveries.find(_app_id(call), number))
        rules.OLD_DELIVERY.when(_too_old(call, found))
        return found

    def _mine(self, call: Call) -> list[Installation]:
        return [i for i in call.world.installations.values() if i.app_id == call.actor.app_id]

    def _asked(self, call: Call) -> Installation:
        found = call.world.installations.get(int(call.params["installation_id"]))
        foreign = found is not None and found.app_id != call.actor.app_id
        return rules.NOT_INSTALLED.found(None if foreign else found)


def _too_old(call: Call, delivery: Delivery) -> bool:
    sent = delivery.status != "pending"
    return sent and delivery.delivered_ms < call.now_ms - DELIVERIES_KEPT_MS


def _app_id(call: Call) -> int:
    assert call.actor.app_id is not None
    return call.actor.app_id


def _permissions(
    installation: Installation, asked: Mapping[str, Any] | None
) -> dict[str, str] | None:
    if asked is None:
        return None
    wanted = {name: str(level) for name, level in asked.items()}
    held = {"metadata": "read", **installation.permissions}
    for name, level in wanted.items():
        granted = held.get(name, "none")
        rules.NOT_GRANTED.when(level not in LEVELS or not allows(granted, level))
    # A repository cannot be reached without its metadata.
    return {**wanted, "metadata": "read"} if wanted else None


def _repositories(
    call: Call, installation: Installation, asked: Mapping[str, Any]
) -> frozenset[int] | None:
    names, numbers = asked.get("repositories"), asked.get("repository_ids")
    if names is None and numbers is None:
        return None
    total = len(names or ()) + len(numbers or ())
    rules.EMPTY_SELECTION.when(total == 0)
    rules.TOO_MANY_REPOSITORIES.when(total > REPOSITORIES_MOST)
    reachable = reach(call.world, installation, None)
    by_name = {call.world.repositories[i].name.lower(): i for i in reachable}
    chosen = {by_name.get(str(name).lower()) for name in names or ()} | set(numbers or ())
    rules.NOT_ITS_REPOSITORY.when(not chosen <= reachable)
    return frozenset(i for i in chosen if i is not None)


def item(delivery: Delivery) -> dict[str, Any]:
    event = delivery.event
    repository = event.payload.get("repository") or {}
    return {
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": stamp(delivery.delivered_ms),
        "redelivery": delivery.redelivery,
        "duration": delivery.duration_s,
        "status": delivery.status,
        "status_code": delivery.status_code,
        "event": event.name,
        "action": event.action,
        "installation_id": event.installation_id,
        "repository_id": repository.get("id"),
        "throttled_at": None,
    }


def whole(delivery: Delivery) -> dict[str, Any]:
    return {
        **item(delivery),
        "url": delivery.target.url,
        "request": {"headers": delivery.headers, "payload": delivery.event.payload},
        "response": {"headers": delivery.answer_headers, "payload": delivery.answer},
    }
