"""How Claude Code signs in at its model: the one way that counts, and only its variables. Pure.

Which way counts when several are given is Claude Code's own order: a cloud that was chosen, then a
gateway's token, then an API key, then a subscription. Of the others nothing reaches the agent.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from agent_work_orders.security import google_credentials

Way = Literal["bedrock", "vertex", "gateway", "api_key", "subscription"]

GOOGLE_FILE = "google-credentials.json"
"""Where the sandbox has Google's credentials: the library that reads them wants a file."""


class SignInWays(msgspec.Struct, frozen=True, kw_only=True):
    """The ways beside an API key, by what Claude Code's own variables are about. The settings have
    them as a section; none of it stands in an order or a journal."""

    gateway_token: str = ""
    subscription_token: str = ""
    bedrock: bool = False
    bedrock_base_url: str = ""
    aws_region: str = ""
    aws_bearer_token: str = ""
    aws_access_key_id: str = ""
    aws_secret_access_key: str = ""
    aws_session_token: str = ""
    vertex: bool = False
    vertex_base_url: str = ""
    vertex_region: str = ""
    vertex_project: str = ""
    google_credentials: str = ""
    """The JSON itself, not the path of a file."""

    @property
    def secrets(self) -> tuple[str, ...]:
        return (
            self.gateway_token,
            self.subscription_token,
            self.aws_bearer_token,
            self.aws_secret_access_key,
            self.aws_session_token,
            *google_credentials.secrets(self.google_credentials),
        )


class SignIn(SignInWays, frozen=True, kw_only=True):
    """All that the server knows."""

    api_key: str = ""
    base_url: str = ""

    @property
    def way(self) -> Way | None:
        """None: nothing was given, which is enough for a gateway that wants nothing."""
        if self.bedrock:
            return "bedrock"
        if self.vertex:
            return "vertex"
        if self.gateway_token:
            return "gateway"
        if self.api_key:
            return "api_key"
        return "subscription" if self.subscription_token else None

    def missing(self) -> str | None:
        """What is not there, in words for people."""
        if self.way is None and not self.base_url:
            return (
                "no way to sign in: set ANTHROPIC_API_KEY, CLAUDE_CODE_OAUTH_TOKEN (of "
                "`claude setup-token`), CLAUDE_CODE_USE_BEDROCK or CLAUDE_CODE_USE_VERTEX"
            )
        return None

    def environment(self) -> dict[str, str]:
        """Of the way that counts. Google's credentials are a file's, see GOOGLE_FILE."""
        given: dict[str, str] = {}
        match self.way:
            case "bedrock":
                given = {
                    "CLAUDE_CODE_USE_BEDROCK": "1",
                    "ANTHROPIC_BEDROCK_BASE_URL": self.bedrock_base_url,
                    "AWS_REGION": self.aws_region,
                    "AWS_BEARER_TOKEN_BEDROCK": self.aws_bearer_token,
                    "AWS_ACCESS_KEY_ID": self.aws_access_key_id,
                    "AWS_SECRET_ACCESS_KEY": self.aws_secret_access_key,
                    "AWS_SESSION_TOKEN": self.aws_session_token,
                }
            case "vertex":
                given = {
                    "CLAUDE_CODE_USE_VERTEX": "1",
                    "ANTHROPIC_VERTEX_BASE_URL": self.vertex_base_url,
                    "ANTHROPIC_VERTEX_PROJECT_ID": self.vertex_project,
                    "CLOUD_ML_REGION": self.vertex_region,
                }
            case "gateway":
                given = {"ANTHROPIC_AUTH_TOKEN": self.gateway_token}
            case "api_key":
                given = {"ANTHROPIC_API_KEY": self.api_key}
            case "subscription":
                given = {"CLAUDE_CODE_OAUTH_TOKEN": self.subscription_token}
            case None:
                pass
        if self.way not in ("bedrock", "vertex"):
            given["ANTHROPIC_BASE_URL"] = self.base_url
        return {name: value for name, value in given.items() if value}
