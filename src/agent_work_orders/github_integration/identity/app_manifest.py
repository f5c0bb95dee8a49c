"""Making a GitHub App from a manifest: what it may and hears, the page that asks for it, and what
GitHub's answer has. Pure.

A person's browser sends the manifest as a form to GitHub, which shows it, makes the App, and sends
the browser back with a code; the code is worth the App's key, once.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import msgspec

from agent_work_orders.errors import Environmental

PERMISSIONS: Mapping[str, str] = {
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "write",
}
"""What orders from issues and comments need; `github.dispatch` and administration need more."""
EVENTS = (
    "check_run", "check_suite", "issue_comment", "issues", "pull_request", "pull_request_review",
    "pull_request_review_comment", "push", "repository",
)  # fmt: skip
MAX_NAME_CHARS = 34
"""GitHub's own limit of an App's name."""


class NewApp(msgspec.Struct, frozen=True, kw_only=True):
    """What GitHub made. It repeats itself nowhere: `pem` and the secret come only once."""

    id: int
    slug: str
    html_url: str
    pem: str
    client_id: str = ""
    webhook_secret: str | None = None

    def __repr__(self) -> str:
        return f"NewApp({self.id})"


def manifest(*, name: str, url: str, redirect_url: str, webhook_url: str) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "name": name,
        "url": url,
        "redirect_url": redirect_url,
        "public": False,
        "default_permissions": dict(PERMISSIONS),
        "default_events": list(EVENTS),
    }
    if webhook_url:
        asked["hook_attributes"] = {"url": webhook_url, "active": True}
    return asked


def address(server_url: str, organization: str, state: str) -> str:
    """Where the form is sent."""
    whose = f"organizations/{organization}/settings" if organization else "settings"
    return f"{server_url}/{whose}/apps/new?state={state}"


def page(action: str, asked: Mapping[str, Any]) -> str:
    """A page with one button that sends the form."""
    value = html.escape(msgspec.json.encode(asked).decode(), quote=True)
    return (
        "<!doctype html><meta charset=utf-8><title>Agent Work Orders on GitHub</title>"
        "<h1>Make the GitHub App</h1><p>GitHub shows what it may do before it is made.</p>"
        f'<form action="{html.escape(action, quote=True)}" method="post">'
        f'<input type="hidden" name="manifest" value="{value}">'
        "<button autofocus>Go on to GitHub</button></form>"
    )


def read(answer: Any) -> NewApp:
    """Environmental `github_answer_strange`."""
    try:
        return msgspec.convert(answer, NewApp)
    except msgspec.ValidationError:
        # Its words could repeat a part of the key.
        raise Environmental(
            "github_answer_strange",
            "GitHub's answer lacks what is needed to take over the new App",
            hint="Delete the App in GitHub's settings and set up again.",
        ) from None
