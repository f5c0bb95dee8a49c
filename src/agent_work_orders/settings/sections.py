"""Everything that can be set, with its default, in sections. Values only: `load.py` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from agent_work_orders.agent_executor import claude_mcp
from agent_work_orders.agent_executor.claude_sign_in import SignInWays
from agent_work_orders.security.outbound import Outbound

Synchronous = Literal["FULL", "NORMAL", "EXTRA"]
LogLevel = Literal["debug", "info", "warning", "error"]


class StorageSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The data directory and its secrets."""

    synchronous: Synchronous = "FULL"
    secret_key: str = ""


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where it listens, and how it stops."""

    host: str = "127.0.0.1"
    port: int = 8420
    log_level: LogLevel = "info"
    drain_s: float = 20.0
    closing_s: float = 1.0
    body_limit_bytes: int = 1_048_576
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    public_url: str = ""


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How much may happen at once and in a time."""

    running_tasks: int = 16
    orders_per_repository: int = 2
    starts_per_repository_per_hour: int = 10
    starts_per_minute: int = 100


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The agents, and the model behind them."""

    default_agent: str = "claude_code"
    agent_uid: str = ""
    agent_script: str = ""
    claude_binary: str = ""
    anthropic_base_url: str = ""
    anthropic_api_key: str = ""
    agent_idle_s: float = 900.0
    """Longer than Claude Code lets a command of its shell run in silence: ten minutes."""
    mcp_config: str = ""
    """The file's text."""
    model_wait_floor_s: float = 30.0
    model_wait_longest_s: float = 900.0


class OrderSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for every order."""

    default_sandbox: str = "git_worktree"
    git_origins: tuple[str, ...] = ()
    four_eyes: bool = False


class NetworkSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the server itself reaches outside."""

    proxy: str = ""
    no_proxy: tuple[str, ...] = ()
    certificates: str = ""


class ContainerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The engines that make containers, and what these are made from."""

    sockets: tuple[str, ...] = ()
    image: str = ""
    rootfs: str = ""


class GitHubSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The one GitHub that is spoken to."""

    app_id: str = ""
    """Its number, or its client id."""
    private_key: str = ""
    """The PEM text, also when the variable names a file."""
    installation_id: int = 0
    token: str = ""
    webhook_secret: tuple[str, ...] = ()
    api_url: str = "https://api.github.com"
    server_url: str = "https://github.com"
    timeout_s: float = 30.0
    rules: str = ""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    home: Path
    repository: Path | None = None
    """The working tree whose data directory it is, when it was found from there."""
    storage: StorageSettings = StorageSettings()
    server: ServerSettings = ServerSettings()
    limits: LimitSettings = LimitSettings()
    agents: AgentSettings = AgentSettings()
    sign_in: SignInWays = SignInWays()
    orders: OrderSettings = OrderSettings()
    containers: ContainerSettings = ContainerSettings()
    github: GitHubSettings = GitHubSettings()
    network: NetworkSettings = NetworkSettings()

    @property
    def outbound(self) -> Outbound:
        return Outbound(**msgspec.structs.asdict(self.network))

    @property
    def secrets(self) -> tuple[str, ...]:
        """What may not be written anywhere."""
        keys = self.storage.secret_key.replace("\n", ",").split(",")
        return (
            self.agents.anthropic_api_key,
            *claude_mcp.secrets(self.agents.mcp_config),
            *self.sign_in.secrets,
            self.github.private_key,
            self.github.token,
            *self.github.webhook_secret,
            *self.outbound.secrets,
            *(part.strip() for part in keys),
        )


def value_of(settings: Settings, name: str) -> Any:
    """By the name of a field: `github.token`."""
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def changed(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """With other values, each by the name of its field."""
    sections: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, attribute = name.partition(".")
        sections.setdefault(section, {})[attribute] = value
    return msgspec.structs.replace(
        settings,
        **{
            section: msgspec.structs.replace(getattr(settings, section), **inside)
            for section, inside in sections.items()
        },
    )


def kind_of(name: str) -> str:
    """The written type of a field."""
    section, _, attribute = name.partition(".")
    annotations: dict[str, str] = type(getattr(_DEFAULTS, section)).__annotations__
    return annotations[attribute]


_DEFAULTS = Settings(home=Path())
