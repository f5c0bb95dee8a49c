"""Who we are for the service: an App with its installations (app_credentials.py), or a plain
token. The contract of both."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from agent_work_orders.errors import AgentWorkOrdersError, Environmental, Permanent
from agent_work_orders.github_integration.credential import Credential
from agent_work_orders.github_integration.http import answers
from agent_work_orders.github_integration.http.one_request import HttpAnswer, HttpRequest
from agent_work_orders.github_integration.http.retrying import Retrying

Permissions = Mapping[str, str]


class Credentials(Protocol):
    async def of(self, repository: str) -> Credential:
        """For the API. Environmental `github_access_lost`, `github_credentials_refused`."""
        ...

    async def narrowed(self, repository: str, permissions: Permissions) -> Credential:
        """For git: of one repository, with these permissions at most; kept while it lives."""
        ...

    async def minted(self, repository: str, permissions: Permissions) -> Credential:
        """For an agent: as `narrowed`, but its own, to be revoked when the agent ends."""
        ...

    async def revoke(self, credential: Credential) -> None:
        """It is worth nothing afterwards. Revoking a dead one is harmless."""
        ...

    async def refused(self, credential: Credential) -> bool:
        """The service did not accept it: forget it. Whether asking again gives another."""
        ...

    async def release(self, repository: str) -> None:
        """Nobody works on it now: what git had for it is worth nothing afterwards, if the service
        can be asked within a moment; else it dies by itself within the hour."""
        ...

    async def close(self) -> None:
        """The same for everything that is kept."""
        ...

    async def account(self) -> str:
        """The login that writes carry."""
        ...


class TokenCredentials:
    """A plain token: cannot be narrowed, renewed or revoked."""

    def __init__(self, retrying: Retrying, token: str) -> None:
        self._retrying = retrying
        mark = hashlib.sha256(token.encode()).hexdigest()[:4]
        self._credential = Credential(name=f"token:{mark}", token=token)
        self._login = ""

    async def of(self, repository: str) -> Credential:
        return self._credential

    async def narrowed(self, repository: str, permissions: Permissions) -> Credential:
        return self._credential

    async def minted(self, repository: str, permissions: Permissions) -> Credential:
        raise Permanent(
            "github_token_not_narrow",
            "A plain GITHUB_TOKEN cannot be narrowed to one repository for an agent",
            hint="Use a GitHub App (GITHUB_APP_ID, GITHUB_PRIVATE_KEY).",
        )

    async def revoke(self, credential: Credential) -> None:
        return None

    async def refused(self, credential: Credential) -> bool:
        return False

    async def release(self, repository: str) -> None:
        return None

    async def close(self) -> None:
        return None

    async def account(self) -> str:
        if not self._login:
            request = HttpRequest(method="GET", url=f"{self._retrying.api_url}/user")
            what = "learn whose the token is"
            answer = await self._retrying.ask(what, request, self._credential)
            self._login = text(good(what, answer, self._credential), "login")
        return self._login


def good(
    what: str, answer: HttpAnswer, credential: Credential, repository: str = ""
) -> dict[str, Any]:
    """The object of a success, or its failure."""
    if answer.status == 404 and answers.message_and_errors(answer)[0] == "Integration not found":
        answer = msgspec.structs.replace(answer, status=401)
    if answer.status >= 300:
        raise answers.refusal(what, answer, credential, repository=repository)
    found = answers.value(answer)
    if not isinstance(found, dict):
        raise strange(what)
    return found


def text(found: Mapping[str, Any], name: str) -> str:
    found_text = found.get(name)
    if not isinstance(found_text, str) or not found_text:
        raise strange(f"read its {name}")
    return found_text


def strange(what: str) -> AgentWorkOrdersError:
    return Environmental(
        "github_answer_strange",
        f"GitHub's answer lacks what is needed to {what}",
        hint="Check GITHUB_API_URL: something else may answer there.",
    )
