"""Everything there is, in memory, beside real bare git repositories in a folder.

Ids are numbers from one counter, times come from the clock that was handed in, and whatever
happens is told to `listeners` as webhooks, one for each App that is installed and wants it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agent_work_orders.clock import Clock
from agent_work_orders.testing.github_simulator import pushes
from agent_work_orders.testing.github_simulator.accounts import Account, App, Installation
from agent_work_orders.testing.github_simulator.call import Actor, Event
from agent_work_orders.testing.github_simulator.diff import Diffs
from agent_work_orders.testing.github_simulator.git_store import GitStore, Person
from agent_work_orders.testing.github_simulator.repository import Repository
from agent_work_orders.testing.github_simulator.shapes import hook

Listener = Callable[[Event], None]
# These reach an App whether it asked for them or not (webhooks/webhook-events-and-payloads).
ALWAYS = ("installation", "installation_repositories", "github_app_authorization")
# High enough that an id is not mistaken for an issue's number in a test.
FIRST_ID = 1_000_000


class World:
    """Use `founding` to fill it and `routes.Router` to ask it."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        *,
        api_url: str = "https://api.github.com",
        server_url: str = "https://github.com",
    ) -> None:
        self.folder = folder
        self.clock = clock
        self.api_url = api_url
        self.server_url = server_url
        self.accounts: dict[int, Account] = {}
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.repositories: dict[int, Repository] = {}
        # Former full names in lower case: they redirect.
        self.former_names: dict[str, int] = {}
        self.listeners: list[Listener] = []
        # GitHub finds out in the background whether a pull request can be merged: who asks first
        # is told null. False answers at once.
        self.lazy_mergeability = True
        self._last_id = FIRST_ID
        self._git: dict[int, GitStore] = {}
        self._diffs: dict[int, Diffs] = {}

    def now_ms(self) -> int:
        return self.clock.now_ms()

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def git(self, repository: Repository) -> GitStore:
        if repository.id not in self._git:
            self._git[repository.id] = GitStore(self.git_dir(repository))
        return self._git[repository.id]

    def git_dir(self, repository: Repository) -> Path:
        """The bare repository: named by id, so that it survives a new name."""
        return self.folder / f"{repository.id}.git"

    def diffs(self, repository: Repository) -> Diffs:
        if repository.id not in self._diffs:
            self._diffs[repository.id] = Diffs(self.git(repository))
        return self._diffs[repository.id]

    def account(self, login: str) -> Account | None:
        wanted = login.lower()
        return next((a for a in self.accounts.values() if a.login.lower() == wanted), None)

    def full_name(self, repository: Repository) -> str:
        return f"{self.accounts[repository.owner_id].login}/{repository.name}"

    def repository(self, full_name: str) -> Repository | None:
        """By its present name, in any case."""
        wanted = full_name.lower()
        found = (r for r in self.repositories.values() if self.full_name(r).lower() == wanted)
        return next(found, None)

    def sender(self, actor: Actor) -> Account:
        """The account that an actor writes as: an installation writes as its App's bot."""
        if actor.app_id is not None and actor.kind != "user":
            return self.accounts[self.apps[actor.app_id].bot_id]
        return self.accounts[actor.account_id]

    def person(self, account: Account) -> Person:
        """As the author of a commit that GitHub makes."""
        email = f"{account.id}+{account.login}@users.noreply.github.com"
        return Person(name=account.name or account.login, email=email, at_ms=self.now_ms())

    def installations_on(self, repository: Repository) -> Iterator[Installation]:
        for installation in self.installations.values():
            if covers(installation, repository):
                yield installation

    def role(self, account_id: int, repository: Repository) -> str:
        """A person's role: `none` means that only what is public can be seen."""
        if account_id == repository.owner_id:
            return "admin"
        return repository.roles.get(account_id, "none")

    def emit(
        self,
        event: str,
        action: str | None,
        repository: Repository,
        sender: Account,
        *,
        only_app: int | None = None,
        **fields: Any,
    ) -> None:
        """Tell every App that is installed here, not suspended, and wants to hear of it."""
        for installation in list(self.installations_on(repository)):
            if only_app in (None, installation.app_id):
                self.emit_to(installation, event, action, sender, repository=repository, **fields)

    def emit_to(
        self,
        installation: Installation,
        event: str,
        action: str | None,
        sender: Account,
        /,
        *,
        repository: Repository | None = None,
        **fields: Any,
    ) -> None:
        app = self.apps[installation.app_id]
        if event not in ALWAYS and (installation.suspended_ms or event not in app.events):
            return
        payload = hook.payload(self, action, installation, sender, repository, fields)
        told = Event(
            name=event,
            action=action,
            app_id=app.id,
            installation_id=installation.id,
            payload=payload,
        )
        for listener in self.listeners:
            listener(told)

    def pushed(
        self, repository: Repository, ref: str, before: str, after: str, pusher: Account
    ) -> None:
        """A ref has moved in git (forty zeros: it was made, or deleted): everything that follows
        from it on GitHub."""
        pushes.pushed(self, repository, ref, before, after, pusher)


def covers(installation: Installation, repository: Repository) -> bool:
    if installation.account_id != repository.owner_id:
        return False
    return installation.repository_ids is None or repository.id in installation.repository_ids
