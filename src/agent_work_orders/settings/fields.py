"""The reference of settings: each variable, where its value stands, and what it means.
docs/reference/settings.md lists them and a test compares."""

from __future__ import annotations

import msgspec


class Field(msgspec.Struct, frozen=True):
    variable: str
    name: str
    meaning: str
    shown: bool = False
    """No secret belongs here: what does not fit is repeated, if it is shorter than any secret.
    Of every other only the shape is told."""


FIELDS = (
    Field("AWO_HOME", "home", "The data directory; `awo home` says which it is without this"),
    Field(
        "AWO_HOST",
        "server.host",
        "Where `awo up` listens; anything but loopback needs API keys",
        True,
    ),
    Field("AWO_PORT", "server.port", "The port of `awo up`", True),
    Field("AWO_LOG_LEVEL", "server.log_level", "debug, info, warning or error", True),
    Field(
        "AWO_DEFAULT_SANDBOX",
        "orders.default_sandbox",
        "Sandbox type when an order names none",
        True,
    ),
    Field("AWO_DEFAULT_AGENT", "agents.default_agent", "Agent when an order names none", True),
    Field(
        "AWO_RUNNING_TASKS", "limits.running_tasks", "Tasks that run at once, over all orders", True
    ),
    Field(
        "AWO_ORDERS_PER_REPOSITORY",
        "limits.orders_per_repository",
        "Orders of one repository at work at once; 0 is no limit",
        True,
    ),
    Field(
        "AWO_STARTS_PER_REPOSITORY_PER_HOUR",
        "limits.starts_per_repository_per_hour",
        "Orders of one repository begun per hour; 0 is no limit; the local operator is exempt",
        True,
    ),
    Field(
        "AWO_STARTS_PER_MINUTE",
        "limits.starts_per_minute",
        "Orders begun per minute; 0 is no limit; the local operator is exempt",
        True,
    ),
    Field(
        "AWO_DRAIN_S", "server.drain_s", "Seconds that running tasks get to end after SIGTERM", True
    ),
    Field(
        "AWO_CLOSING_S",
        "server.closing_s",
        "Seconds of /readyz saying `draining` after SIGTERM",
        True,
    ),
    Field("AWO_SYNCHRONOUS", "storage.synchronous", "SQLite's; below FULL a power cut loses", True),
    Field("AWO_BODY_LIMIT_BYTES", "server.body_limit_bytes", "Largest request body", True),
    Field("AWO_ALLOWED_HOSTS", "server.allowed_hosts", "Further Host headers to accept, by comma"),
    Field("AWO_ALLOWED_ORIGINS", "server.allowed_origins", "Further Origins to accept, by comma"),
    Field(
        "AWO_PUBLIC_URL",
        "server.public_url",
        "Where people open the dashboard; what is written to GitHub links there",
    ),
    Field("AWO_GIT_ORIGINS", "orders.git_origins", "Plain-http git servers to allow, by comma"),
    Field(
        "AWO_AGENT_UID", "agents.agent_uid", "Uids for agents of a root server, first-last", True
    ),
    Field(
        "AWO_CONTAINER_SOCKETS",
        "containers.sockets",
        "Sockets of Docker or Podman for sandboxes of the type `container`, by comma",
    ),
    Field(
        "AWO_CONTAINER_IMAGE",
        "containers.image",
        "The image of containers, which the engine has already; python3 and git are in it",
    ),
    Field(
        "AWO_CONTAINER_ROOTFS",
        "containers.rootfs",
        "Instead of an image: the archive (tar) of a root file system, imported once",
    ),
    Field("AWO_AGENT_SCRIPT", "agents.agent_script", "What the scripted agent follows by default"),
    Field("AWO_CLAUDE_BINARY", "agents.claude_binary", "Path of the claude program"),
    Field("ANTHROPIC_BASE_URL", "agents.anthropic_base_url", "Address of the model's API"),
    Field("ANTHROPIC_API_KEY", "agents.anthropic_api_key", "Key of the model's API"),
    Field("CLAUDE_CODE_OAUTH_TOKEN", "sign_in.subscription_token", "Token of a subscription"),
    Field("ANTHROPIC_AUTH_TOKEN", "sign_in.gateway_token", "Token for a gateway before the model"),
    Field("CLAUDE_CODE_USE_BEDROCK", "sign_in.bedrock", "true: the model is at Bedrock", True),
    Field("ANTHROPIC_BEDROCK_BASE_URL", "sign_in.bedrock_base_url", "Another address of Bedrock"),
    Field("AWS_REGION", "sign_in.aws_region", "Bedrock's region", True),
    Field("AWS_BEARER_TOKEN_BEDROCK", "sign_in.aws_bearer_token", "An API key of Bedrock"),
    Field("AWS_ACCESS_KEY_ID", "sign_in.aws_access_key_id", "Bedrock: the id of a key"),
    Field("AWS_SECRET_ACCESS_KEY", "sign_in.aws_secret_access_key", "Bedrock: the key's secret"),
    Field("AWS_SESSION_TOKEN", "sign_in.aws_session_token", "Bedrock: of a key for a time"),
    Field("CLAUDE_CODE_USE_VERTEX", "sign_in.vertex", "true: the model is at Vertex AI", True),
    Field("ANTHROPIC_VERTEX_BASE_URL", "sign_in.vertex_base_url", "Another address of Vertex"),
    Field("CLOUD_ML_REGION", "sign_in.vertex_region", "Vertex: the region", True),
    Field("ANTHROPIC_VERTEX_PROJECT_ID", "sign_in.vertex_project", "Vertex: the project", True),
    Field(
        "GOOGLE_APPLICATION_CREDENTIALS",
        "sign_in.google_credentials",
        "Vertex: Google's credentials, a JSON or the path of its file",
    ),
    Field(
        "AWO_MCP_CONFIG",
        "agents.mcp_config",
        "A JSON file of MCP servers for Claude Code, in its own form (`mcpServers`)",
    ),
    Field(
        "AWO_AGENT_IDLE_S",
        "agents.agent_idle_s",
        "Seconds of silence after which an agent is ended, within its time; 0 for no limit",
        True,
    ),
    Field(
        "AWO_MODEL_WAIT_FLOOR_S",
        "agents.model_wait_floor_s",
        "Shortest wait for a model that does not answer or whose quota is used up; it doubles",
        True,
    ),
    Field(
        "AWO_MODEL_WAIT_LONGEST_S",
        "agents.model_wait_longest_s",
        "Longest wait between two tries, unless the model named a later time",
        True,
    ),
    Field(
        "GITHUB_APP_ID",
        "github.app_id",
        "The GitHub App to act as: its number, or its client id",
        True,
    ),
    Field(
        "GITHUB_PRIVATE_KEY",
        "github.private_key",
        "The App's key: PEM text, base64 of it, or the path of a file that only its owner can read",
    ),
    Field(
        "GITHUB_INSTALLATION_ID",
        "github.installation_id",
        "The App's only installation; 0 finds it for each repository",
        True,
    ),
    Field("GITHUB_TOKEN", "github.token", "A plain token; used when there is no App"),
    Field(
        "GITHUB_WEBHOOK_SECRET",
        "github.webhook_secret",
        "Secret of GitHub's deliveries; several by comma while it is changed",
    ),
    Field("GITHUB_API_URL", "github.api_url", "Address of GitHub's API"),
    Field("GITHUB_SERVER_URL", "github.server_url", "Address of GitHub's pages and repositories"),
    Field(
        "AWO_GITHUB_TIMEOUT_S",
        "github.timeout_s",
        "Seconds until a request to GitHub's API is given up",
        True,
    ),
    Field(
        "AWO_GITHUB_RULES",
        "github.rules",
        "A file of rules for repositories that have none; the form of .awo/config.yaml",
    ),
    Field(
        "AWO_HTTPS_PROXY",
        "network.proxy",
        "Proxy for GitHub, for git over https and for models: http://[user:password@]host:port; "
        "`HTTPS_PROXY` alone is passed over",
    ),
    Field(
        "AWO_NO_PROXY",
        "network.no_proxy",
        "Hosts that are reached without it, by comma; `.example.org` is all below that name",
    ),
    Field(
        "AWO_CA_BUNDLE",
        "network.certificates",
        "A PEM file of certificate authorities that are good beside the system's",
    ),
    Field(
        "AWO_FOUR_EYES", "orders.four_eyes", "true: nobody approves in orders of their own", True
    ),
    Field(
        "AWO_SECRET_KEY",
        "storage.secret_key",
        "Key of kept credentials: 32 bytes in base64, a new one before the old by comma; "
        "else `secret.key` of the data directory",
    ),
)

KEPT = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_SECRET_ACCESS_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "GITHUB_APP_ID",
    "GITHUB_PRIVATE_KEY",
    "GITHUB_TOKEN",
    "GITHUB_WEBHOOK_SECRET",
)
"""What `awo credentials` can keep, instead of the environment."""
