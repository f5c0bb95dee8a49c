"""The border between the outside of the simulator (sockets, credentials, limits, faults, git over
HTTP, deliveries) and its inside (the world and what may be asked of it).

Rules:
- The outside reads a request, decides who asks (`Actor`), and hands it to
  `routes.Router.answer(...)`. It gets an `Answer` back, always: refusals are rendered inside.
- Everything inside is synchronous and is called by one thread at a time. A call either changes
  the world as a whole or refuses and changes nothing.
- Events leave through `World.listeners`, as `Event`, after the change they tell of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from github_simulator.things.actor import Actor
from github_simulator.world import World


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a request's body. `kinds` are JSON types; `items` those of a list's members;
    `fields` those of an object, or of each object in the list."""

    name: str
    kinds: tuple[str, ...] = ("string",)
    required: bool = False
    enum: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One request, already read. Header names are in lower case; of a query parameter that comes
    twice the last counts. `body` is None when there is none."""

    world: World
    actor: Actor
    route: Route
    path: str
    params: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]
    now_ms: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """`body` is JSON data or, with its own content type, a text; None sends no body."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = {}


Handler = Callable[[Call], Answer]


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """`operation` is GitHub's operationId. `needs` are alternatives: one of them suffices.
    `by` narrows who may ask at all: an App with its own token (a JWT), an installation, a person;
    `apps` is an installation only where a person's token is refused, as with checks. `role` is
    what a person must be in the repository. `open` needs no credential, whatever it does."""

    method: str
    template: str
    operation: str
    handler: Handler
    needs: tuple[tuple[str, str], ...] = ()
    by: Literal["open", "any", "app", "installation", "user", "apps"] = "any"
    body: tuple[Field, ...] = ()
    role: Literal["read", "triage", "write", "maintain", "admin"] = "read"
    # Query parameters with a closed set of values.
    choices: Mapping[str, tuple[str, ...]] = {}


class Refusal(Exception):
    """GitHub says no. Made by `refusals.Rule`, never by hand outside of the package."""

    def __init__(
        self,
        *,
        rule: str,
        status: int,
        message: str,
        errors: list[Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = dict(headers or {})

    def answer(self, operation: str) -> Answer:
        """As GitHub renders it: the errors are left out when there are none."""
        body: dict[str, Any] = {"message": self.message}
        if self.errors:
            body["errors"] = self.errors
        body["documentation_url"] = documentation(operation)
        body["status"] = str(self.status)
        return Answer(status=self.status, body=body, headers=self.headers)


def documentation(operation: str) -> str:
    if not operation:
        return "https://docs.github.com/rest"
    category, _, name = operation.partition("/")
    return f"https://docs.github.com/rest/{category}#{name}"
