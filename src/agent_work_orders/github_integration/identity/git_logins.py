"""Logins of git for repositories on GitHub. The contract is repositories/login.py.

A token is narrowed to the one repository and to reading or writing its contents: what git needs,
and nothing that its server could do elsewhere in our name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent_work_orders.github_integration.credential import Credential
from agent_work_orders.github_integration.full_name import full_name_of, is_full_name
from agent_work_orders.github_integration.identity.credentials import Credentials
from agent_work_orders.repositories.login import Login

USERNAME = "x-access-token"


class GitLogins:
    def __init__(
        self,
        credentials: Credentials,
        server_url: str,
        present_name: Callable[[str], Awaitable[str]] | None = None,
    ) -> None:
        """`present_name` asks what a repository is called now."""
        self._credentials = credentials
        self._server_url = server_url
        self._present_name = present_name
        self._names: dict[str, str] = {}
        """Of repositories that have another name by now."""

    async def moved(self, url: str) -> bool:
        full_name = full_name_of(url, self._server_url) if "://" in url else ""
        if not full_name or self._present_name is None:
            return False
        now = await self._present_name(full_name)
        if not is_full_name(now) or now == self._names.get(full_name, full_name):
            return False
        self._names[full_name] = now
        return True

    async def login(self, url: str, *, writes: bool) -> Login | None:
        full_name = full_name_of(url, self._server_url) if "://" in url else ""
        if not full_name or url.startswith("ssh:"):
            return None
        contents = {"contents": "write" if writes else "read"}
        credential = await self._credentials.narrowed(full_name, contents)
        now = self._names.get(full_name)
        address = "" if now is None else f"{self._server_url}/{now}.git"
        return Login(username=USERNAME, password=credential.token, address=address)

    async def done(self, url: str) -> None:
        full_name = full_name_of(url, self._server_url) if "://" in url else ""
        if full_name:
            await self._credentials.release(full_name)

    async def refused(self, url: str, login: Login) -> bool:
        return await self._credentials.refused(Credential(name="git", token=login.password))
