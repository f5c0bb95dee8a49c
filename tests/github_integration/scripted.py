"""A transport that answers as told, and remembers what was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent_work_orders.errors import NotFound, Permanent
from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.github_integration.github_forge import GithubForge

LOGIN = "awo[bot]"
REPOSITORY = Repository(key="name-1", full_name="owner/name")


class Scripted:
    """`answers["GET pulls/1"]`: a value, an error to raise, a function of the body or query, or a
    list of these, one for each time, the last for ever."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = dict(answers)
        self.asked: list[tuple[str, Any]] = []
        self.creating: list[str] = []

    def bodies(self, what: str) -> list[Any]:
        return [body for asked, body in self.asked if asked == what]

    async def get(self, repository: Repository, path: str, **more: Any) -> Any:
        return self._answer(f"GET {path}", more.get("query"))

    async def pages(self, repository: Repository, path: str, **more: Any) -> list[Any]:
        answer: list[Any] = self._answer(f"GET {path}", more.get("query"))
        return answer

    async def send(
        self, method: str, repository: Repository, path: str, body: Any = None, **more: Any
    ) -> Any:
        if more.get("creates"):
            self.creating.append(f"{method} {path}")
        return self._answer(f"{method} {path}", body)

    async def graphql(
        self, repository: Repository, query: str, variables: Any, *, writes: bool, **more: Any
    ) -> dict[str, Any]:
        assert query.startswith("mutation") is writes
        name = query.split("(input")[0].split()[-1] if writes else "query"
        answer: dict[str, Any] = self._answer(f"GRAPHQL {name}", variables)
        return answer

    async def need(self, repository: Repository, permissions: Mapping[str, str]) -> None:
        return None

    async def account(self) -> str:
        return LOGIN

    def _answer(self, what: str, body: Any) -> Any:
        self.asked.append((what, body))
        answer = self.answers[what]
        if isinstance(answer, Turns):
            answer = answer.next()
        if isinstance(answer, Exception):
            raise answer
        return answer(body) if isinstance(answer, Callable) else answer  # type: ignore[arg-type]


class Turns:
    """One answer after the other; the last stays."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)

    def next(self) -> Any:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def refused(status: int, said: str, *errors: str) -> Permanent:
    return Permanent(
        "github_refused", said, hint="x", status=status, said=said, errors=list(errors)
    )


def missing() -> NotFound:
    return NotFound("github_not_found", "x", hint="x", status=404, said="Not Found", errors=[])


def pull(number: int = 1, **more: Any) -> dict[str, Any]:
    home = {"full_name": "owner/name"}
    return {
        "number": number,
        "title": "T",
        "html_url": f"https://github.com/owner/name/pull/{number}",
        "state": "open",
        "draft": False,
        "merged_at": None,
        "merge_commit_sha": "9" * 40,
        "node_id": f"PR_{number}",
        "user": {"login": LOGIN},
        "body": "",
        "head": {"ref": "h", "sha": "1" * 40, "repo": home},
        "base": {"ref": "main", "sha": "2" * 40, "repo": home},
        **more,
    }


class Naps:
    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def made(answers: dict[str, Any], *, public_url: str = "") -> tuple[GithubForge, Scripted, Naps]:
    transport, naps = Scripted(answers), Naps()
    return GithubForge(transport, sleep=naps, public_url=public_url), transport, naps
