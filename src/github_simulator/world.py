"""Everything there is, in memory, beside real bare git repositories in a folder.

Ids are numbers from one counter, times come from the clock that was handed in, and whatever
happens is told to `listeners` as webhooks, one for each App that is installed and wants it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from agent_work_orders.clock import Clock
from github_simulator.things.accounts import Account, App, Installation
from github_simulator.things.actor import Actor
from github_simulator.things.diff import Diffs
from github_simulator.things.event import Event
from github_simulator.things.git_store import GitStore, Person
from github_simulator.things.repository import Repository

Listener = Callable[[Event], None]
Follow = Callable[["World", Repository, str, str, str, Account], None]
# High enough that an id is not mistaken for an issue's number in a test.
FIRST_ID = 1_000_000


class World:
    """Use `founding` to make and fill it and `routes.Router` to ask it. `follow` does what follows
    on GitHub when a ref has moved."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        follow: Follow,
        *,
        api_url: str = "https://api.github.com",
        server_url: str = "https://github.com",
    ) -> None:
        self.folder = folder
        self.clock = clock
        self._follow = follow
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
        # GitHub refuses a second open pull request of the same branches. False takes it, as some
        # servers that speak its language do, and GitHub itself when two come at one moment.
        self.refuses_second_pulls = True
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

    def moved(self, full_name: str) -> Repository | None:
        """By a former name that nobody else has taken since."""
        return self.repositories.get(self.former_names.get(full_name.lower(), 0))

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

    def pushed(
        self, repository: Repository, ref: str, before: str, after: str, pusher: Account
    ) -> None:
        """A ref has moved in git (forty zeros: it was made, or deleted): everything that follows
        from it on GitHub."""
        self._follow(self, repository, ref, before, after, pusher)


def covers(installation: Installation, repository: Repository) -> bool:
    if installation.account_id != repository.owner_id:
        return False
    return installation.repository_ids is None or repository.id in installation.repository_ids
