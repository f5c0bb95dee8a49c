"""Whether GitHub takes our credentials, and whether they may do what orders need: said with the
remedy, before an order finds out. Reads only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_work_orders.clock import Clock
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.github_integration.account import Need, Remark
from agent_work_orders.github_integration.http import answers
from agent_work_orders.github_integration.http.limits import date_ms
from agent_work_orders.github_integration.http.one_request import HttpAnswer, HttpRequest
from agent_work_orders.github_integration.http.retrying import Retrying
from agent_work_orders.github_integration.identity.app_credentials import AppCredentials
from agent_work_orders.github_integration.identity.app_manifest import EVENTS, PERMISSIONS
from agent_work_orders.github_integration.identity.credentials import TokenCredentials, good
from agent_work_orders.github_integration.quota import QuotaHeld

SKEW_S = 30
"""Proofs are dated back by this much: a clock that is further ahead is refused at first."""
MOST_INSTALLATIONS = 100
MOST_NAMED = 5
"""Of those that need one permission: enough to know where to look."""


class SelfCheck:
    def __init__(
        self,
        retrying: Retrying,
        credentials: AppCredentials | TokenCredentials,
        clock: Clock,
        *,
        webhooks: bool,
    ) -> None:
        """`webhooks`: whether deliveries are expected (a secret is configured)."""
        self._retrying = retrying
        self._credentials = credentials
        self._clock = clock
        self._webhooks = webhooks

    async def examine(self, needs: Sequence[Need] = ()) -> list[Remark]:
        """What cannot be found out now is a remark too. Of a token's permissions GitHub tells only
        those of each repository: `needs` are looked at for an App."""
        try:
            if isinstance(self._credentials, AppCredentials):
                return await self._app(self._credentials, needs)
            return await self._token(self._credentials)
        except QuotaHeld as held:
            return [_cannot(f"GitHub's limits do not allow it now: {held}", "Try it again later.")]
        except AgentWorkOrdersError as error:
            return [_cannot(error.message, error.hint)]

    async def _app(self, credentials: AppCredentials, needs: Sequence[Need]) -> list[Remark]:
        answer, app = await self._asked(credentials, "GET", "/app")
        where = str(app.get("html_url") or "the App's page")
        mine = f"{app.get('slug')} ({app.get('id')})"
        found = [Remark(about="GitHub App", status="ok", detail=f"{mine}: its key is accepted")]
        found += self._skew(answer)
        lacking = lacks(app.get("permissions"))
        if lacking:
            found.append(
                Remark(
                    about="App's permissions",
                    status="error",
                    detail=f"{mine} lacks {', '.join(lacking)}",
                    hint=f"Add them in the App's settings ({where}), then accept them for each "
                    "installation.",
                )
            )
        missing = [name for name in EVENTS if name not in (app.get("events") or [])]
        if missing and self._webhooks:
            found.append(
                Remark(
                    about="App's events",
                    status="warning",
                    detail=f"{mine} is not told of {', '.join(missing)}",
                    hint=f"Subscribe to them in the App's settings ({where}).",
                )
            )
        unmet = unmet_needs(app.get("permissions"), needs)
        if unmet:
            found.append(
                Remark(
                    about="App's further permissions",
                    status="warning",
                    detail=f"{mine} lacks {_listed(unmet)}",
                    hint=f"Add them in the App's settings ({where}) and accept them for each "
                    "installation; without them those steps fail.",
                )
            )
        met = [one for one in needs if one not in unmet]
        found += await self._installations(credentials, where, met)
        found += await self._hook(credentials, where)
        return found

    async def _installations(
        self, credentials: AppCredentials, where: str, needs: Sequence[Need]
    ) -> list[Remark]:
        path = f"/app/installations?per_page={MOST_INSTALLATIONS}"
        _, every = await self._asked(credentials, "GET", path)
        if not every:
            return [
                Remark(
                    about="installations",
                    status="error",
                    detail="the App is installed nowhere: it can reach no repository",
                    hint=f"Install it: {where}/installations/new",
                )
            ]
        return [_of_installation(one, needs) for one in every if isinstance(one, dict)]

    async def _hook(self, credentials: AppCredentials, where: str) -> list[Remark]:
        if not self._webhooks:
            return []
        _, hook = await self._asked(credentials, "GET", "/app/hook/config")
        if hook.get("url") and hook.get("secret"):
            return [Remark(about="App's webhook", status="ok", detail=f"to {hook['url']}")]
        lacking = "an address" if not hook.get("url") else "a secret"
        return [
            Remark(
                about="App's webhook",
                status="error",
                detail=f"it has not {lacking}: labels and comments do not arrive",
                hint=f"Set it in the App's settings ({where}): https://<public name>/webhook/github"
                " and the secret of GITHUB_WEBHOOK_SECRET.",
            )
        ]

    async def _token(self, credentials: TokenCredentials) -> list[Remark]:
        credential = await credentials.of("")
        request = HttpRequest(method="GET", url=f"{self._retrying.api_url}/user")
        answer = await self._retrying.ask("learn whose the token is", request, credential)
        user = good("learn whose the token is", answer, credential)
        found = [
            Remark(about="GitHub token", status="ok", detail=f"{user.get('login')}: it is accepted")
        ]
        scopes = answer.headers.get("x-oauth-scopes")
        if scopes and "repo" not in [one.strip() for one in scopes.split(",")]:
            found.append(
                Remark(
                    about="token's scopes",
                    status="error",
                    detail=f"it has {scopes}, not repo: it cannot push",
                    hint="Make a token with the scope repo.",
                )
            )
        return [*found, *self._skew(answer)]

    def _skew(self, answer: HttpAnswer) -> list[Remark]:
        theirs_ms = date_ms(answer.headers)
        if theirs_ms is None:
            return []
        ahead_s = (self._clock.now_ms() - theirs_ms) // 1000
        if abs(ahead_s) <= SKEW_S:
            return []
        return [
            Remark(
                about="clock",
                status="warning",
                detail=f"this machine's clock is {abs(ahead_s)} s "
                f"{'ahead of' if ahead_s > 0 else 'behind'} GitHub's",
                hint="Let it be set by a time server (NTP).",
            )
        ]

    async def _asked(
        self, credentials: AppCredentials, method: str, path: str
    ) -> tuple[HttpAnswer, Any]:
        what = f"look at the App ({path.partition('?')[0]})"
        request = HttpRequest(method=method, url=self._retrying.api_url + path, priority="person")
        answer, credential = await credentials.as_app(what, request)
        if path.startswith("/app/installations") and answer.status == 200:
            return answer, answers.value(answer)
        return answer, good(what, answer, credential)


def lacks(granted: Any) -> list[str]:
    """Of what orders need: `contents: write`."""
    have = granted if isinstance(granted, dict) else {}
    return [
        f"{name}: {level}"
        for name, level in PERMISSIONS.items()
        if name != "metadata" and not answers.reaches(str(have.get(name)), level)
    ]


def unmet_needs(granted: Any, needs: Sequence[Need]) -> list[Need]:
    have = granted if isinstance(granted, dict) else {}
    return [one for one in needs if not answers.reaches(str(have.get(one.permission)), one.level)]


def _listed(needs: Sequence[Need]) -> str:
    """`actions: write (for workflow deploy), ...`, each permission once."""
    whose: dict[str, list[str]] = {}
    for one in needs:
        whose.setdefault(f"{one.permission}: {one.level}", []).append(one.of)
    return ", ".join(f"{named} (for {_some(of)})" for named, of in whose.items())


def _some(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return "; ".join(names[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def _of_installation(found: dict[str, Any], needs: Sequence[Need]) -> Remark:
    whose = str((found.get("account") or {}).get("login") or "somebody")
    about, where = f"installation on {whose}", str(found.get("html_url") or "its page")
    if found.get("suspended_at"):
        return Remark(about=about, status="error", detail="it is suspended", hint=f"See {where}")
    lacking = lacks(found.get("permissions"))
    if lacking:
        return Remark(
            about=about,
            status="error",
            detail=f"it was not granted {', '.join(lacking)}",
            hint=f"Accept the App's permissions: {where}",
        )
    unmet = unmet_needs(found.get("permissions"), needs)
    if unmet:
        return Remark(
            about=about,
            status="warning",
            detail=f"it was not granted {_listed(unmet)}",
            hint=f"Accept the App's permissions: {where}; without them those steps fail.",
        )
    which = "all" if found.get("repository_selection") == "all" else "selected"
    return Remark(about=about, status="ok", detail=f"on {which} repositories")


def _cannot(detail: str, hint: str) -> Remark:
    return Remark(about="GitHub", status="error", detail=detail, hint=hint)
