"""What GitHub sent to the App's webhook in vain, and having it sent once more. See hook.py.

Only an App can ask, with its own proof; for a plain token there is no such question.
"""

from __future__ import annotations

from datetime import datetime
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from agent_work_orders.github_integration.hook import MOST_PAGES, Sent
from agent_work_orders.github_integration.http import answers
from agent_work_orders.github_integration.http.one_request import HttpAnswer, HttpRequest
from agent_work_orders.github_integration.http.pages import PER_PAGE, next_link
from agent_work_orders.github_integration.identity.app_credentials import AppCredentials
from agent_work_orders.github_integration.resources import wire

PATH = "/app/hook/deliveries"


class _Row(msgspec.Struct, frozen=True):
    id: int
    guid: str
    delivered_at: str
    event: str
    action: str | None = None
    status_code: int = 0


class AppHook:
    def __init__(self, credentials: AppCredentials, api_url: str) -> None:
        self._credentials = credentials
        self._api_url = api_url

    async def failed(self, since_ms: int) -> list[Sent]:
        found: list[Sent] = []
        query = {"per_page": str(PER_PAGE), "status": "failure"}
        seen: set[str] = set()
        for _ in range(MOST_PAGES):
            answer = await self._asked("list webhook deliveries", "GET", f"?{urlencode(query)}")
            page = wire.read(answers.value(answer), list[_Row])
            rows = [(row, _time(row.delivered_at)) for row in page]
            found += [
                _sent(row, at_ms)
                for row, at_ms in rows
                # A server that does not know the parameter lists the good ones too.
                if at_ms >= since_ms and not 200 <= row.status_code < 300
            ]
            cursor = _cursor(answer)
            if not cursor or cursor in seen or any(at_ms < since_ms for _, at_ms in rows):
                break
            seen.add(cursor)
            query["cursor"] = cursor
        return found

    async def redeliver(self, attempt_id: int) -> None:
        await self._asked("redeliver a webhook", "POST", f"/{attempt_id}/attempts")

    async def _asked(self, what: str, method: str, rest: str) -> HttpAnswer:
        """Nothing here `writes`: a delivery that comes twice is known by its GUID."""
        request = HttpRequest(
            method=method, url=f"{self._api_url}{PATH}{rest}", priority="background"
        )
        answer, credential = await self._credentials.as_app(what, request)
        if answer.status >= 300:
            raise answers.refusal(what, answer, credential)
        return answer


def _cursor(answer: HttpAnswer) -> str:
    """Of the next page. The link's address is not followed, only its cursor is used."""
    link = next_link(answer.headers.get("link", "")) or ""
    try:
        return parse_qs(urlsplit(link).query).get("cursor", [""])[0][:200]
    except ValueError:
        return ""


def _sent(row: _Row, at_ms: int) -> Sent:
    return Sent(
        attempt_id=row.id,
        guid=row.guid.lower(),
        event=row.event,
        action=row.action or "",
        at_ms=at_ms,
    )


def _time(text: str) -> int:
    """0 for what is no time: long past."""
    try:
        stamp = datetime.fromisoformat(text)
    except ValueError:
        return 0
    return 0 if stamp.tzinfo is None else round(stamp.timestamp() * 1000)
