"""Everything that can be set, with its default. Read once from the environment.

`FIELDS` is the reference: docs/reference/settings.md lists each of them and a test compares.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

import msgspec

from agent_work_orders.errors import Refused
from agent_work_orders.security import private_key
from agent_work_orders.security.redaction import SHORTEST

KEY_FILE = "secret.key"
"""As in security/vault.py, which takes time to load."""

Synchronous = Literal["FULL", "NORMAL", "EXTRA"]
LogLevel = Literal["debug", "info", "warning", "error"]
LOOPBACK = ("127.0.0.1", "::1", "localhost")
MAX_WEBHOOK_SECRETS = 4
"""One in use and one to come are enough; each is tried on every delivery."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    home: Path
    host: str = "127.0.0.1"
    port: int = 8420
    log_level: LogLevel = "info"
    default_sandbox: str = "git_worktree"
    default_agent: str = "claude_code"
    running_tasks: int = 16
    orders_per_repository: int = 2
    starts_per_repository_per_hour: int = 10
    starts_per_minute: int = 100
    drain_s: float = 20.0
    synchronous: Synchronous = "FULL"
    body_limit_bytes: int = 1_048_576
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    public_url: str = ""
    git_origins: tuple[str, ...] = ()
    agent_uid: int = 0
    agent_script: str = ""
    claude_binary: str = ""
    anthropic_base_url: str = ""
    anthropic_api_key: str = ""
    github_app_id: int = 0
    github_private_key: str = ""
    """The PEM text, also when the variable names a file."""
    github_installation_id: int = 0
    github_token: str = ""
    github_webhook_secret: tuple[str, ...] = ()
    github_api_url: str = "https://api.github.com"
    github_server_url: str = "https://github.com"
    github_timeout_s: float = 30.0
    github_rules: str = ""
    four_eyes: bool = False
    secret_key: str = ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What may not be written anywhere."""
        return (
            self.anthropic_api_key,
            self.github_private_key,
            self.github_token,
            *self.github_webhook_secret,
            *(part.strip() for part in self.secret_key.replace("\n", ",").split(",")),
        )


class Field(msgspec.Struct, frozen=True):
    variable: str
    name: str
    meaning: str


FIELDS = (
    Field("AWO_HOME", "home", "The data directory"),
    Field("AWO_HOST", "host", "Where `awo up` listens; anything but loopback needs API keys"),
    Field("AWO_PORT", "port", "The port of `awo up`"),
    Field("AWO_LOG_LEVEL", "log_level", "debug, info, warning or error"),
    Field("AWO_DEFAULT_SANDBOX", "default_sandbox", "Sandbox type when an order names none"),
    Field("AWO_DEFAULT_AGENT", "default_agent", "Agent when an order names none"),
    Field("AWO_RUNNING_TASKS", "running_tasks", "Tasks that run at once, over all orders"),
    Field(
        "AWO_ORDERS_PER_REPOSITORY",
        "orders_per_repository",
        "Orders of one repository at work at once; 0 is no limit",
    ),
    Field(
        "AWO_STARTS_PER_REPOSITORY_PER_HOUR",
        "starts_per_repository_per_hour",
        "Orders of one repository begun per hour; 0 is no limit; the local operator is exempt",
    ),
    Field(
        "AWO_STARTS_PER_MINUTE",
        "starts_per_minute",
        "Orders begun per minute; 0 is no limit; the local operator is exempt",
    ),
    Field("AWO_DRAIN_S", "drain_s", "Seconds that running tasks get to end after SIGTERM"),
    Field("AWO_SYNCHRONOUS", "synchronous", "SQLite's synchronous; below FULL a power cut loses"),
    Field("AWO_BODY_LIMIT_BYTES", "body_limit_bytes", "Largest request body"),
    Field("AWO_ALLOWED_HOSTS", "allowed_hosts", "Further Host headers to accept, by comma"),
    Field("AWO_ALLOWED_ORIGINS", "allowed_origins", "Further Origins to accept, by comma"),
    Field(
        "AWO_PUBLIC_URL",
        "public_url",
        "Where people open the dashboard; what is written to GitHub links there",
    ),
    Field("AWO_GIT_ORIGINS", "git_origins", "Plain-http git servers to allow, by comma"),
    Field("AWO_AGENT_UID", "agent_uid", "Uid of agents when the server is root; 0 chooses one"),
    Field(
        "AWO_AGENT_SCRIPT",
        "agent_script",
        "File that the scripted agent follows when an order brings no script",
    ),
    Field("AWO_CLAUDE_BINARY", "claude_binary", "Path of the claude program"),
    Field("ANTHROPIC_BASE_URL", "anthropic_base_url", "Address of the model's API"),
    Field("ANTHROPIC_API_KEY", "anthropic_api_key", "Key of the model's API"),
    Field("GITHUB_APP_ID", "github_app_id", "Id of the GitHub App to act as"),
    Field(
        "GITHUB_PRIVATE_KEY",
        "github_private_key",
        "The App's key: PEM text, or the path of a file that only its owner can read",
    ),
    Field(
        "GITHUB_INSTALLATION_ID",
        "github_installation_id",
        "The App's only installation; 0 finds it for each repository",
    ),
    Field("GITHUB_TOKEN", "github_token", "A plain token; used when there is no App"),
    Field(
        "GITHUB_WEBHOOK_SECRET",
        "github_webhook_secret",
        "Secret of GitHub's deliveries; several by comma while it is changed",
    ),
    Field("GITHUB_API_URL", "github_api_url", "Address of GitHub's API"),
    Field("GITHUB_SERVER_URL", "github_server_url", "Address of GitHub's pages and repositories"),
    Field(
        "AWO_GITHUB_TIMEOUT_S",
        "github_timeout_s",
        "Seconds until a request to GitHub's API is given up",
    ),
    Field(
        "AWO_GITHUB_RULES",
        "github_rules",
        "A file of rules for repositories that have none; the form of .awo/config.yaml",
    ),
    Field("AWO_FOUR_EYES", "four_eyes", "true: who asked for an order does not approve in it"),
    Field(
        "AWO_SECRET_KEY",
        "secret_key",
        "Key of kept credentials: 32 bytes in base64, a new one before the old by comma; "
        "else `secret.key` of the data directory",
    ),
)
KEPT = ("ANTHROPIC_API_KEY", "GITHUB_PRIVATE_KEY", "GITHUB_TOKEN", "GITHUB_WEBHOOK_SECRET")
"""What `awo credentials` can keep, instead of the environment."""


def load(environ: Mapping[str, str] | None = None, **given: Any) -> Settings:
    """From the environment, with what a command line gave on top. Refused `setting_invalid`."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {"home": default_home(environ)}
    for field in FIELDS:
        if field.name != "home" and environ.get(field.variable, "") != "":
            values[field.name] = _read(field, environ[field.variable])
    if environ.get("GITHUB_WEBHOOK_SECRET") == "":
        # Who sets it means to check deliveries: an empty one would be signed by anybody.
        raise _invalid("GITHUB_WEBHOOK_SECRET", "it is empty; remove it, or give a secret")
    values |= {name: value for name, value in given.items() if value is not None}
    values["home"] = Path(values["home"]).absolute()
    settings = Settings(**values)
    may_keep = settings.secret_key or (settings.home / KEY_FILE).exists()
    _check(settings, key_may_come=bool(may_keep))
    return settings


def with_kept(settings: Settings, kept: Mapping[str, str]) -> Settings:
    """With credentials that were kept, where the environment gave none. Refused
    `setting_invalid`."""
    fields = {field.variable: field for field in FIELDS if field.variable in KEPT}
    values = {
        fields[name].name: _read(fields[name], secret)
        for name, secret in kept.items()
        if name in fields and not getattr(settings, fields[name].name)
    }
    whole = msgspec.structs.replace(settings, **values)
    for variable, fits, rule in _github_rules(whole):
        if not fits:
            raise _invalid(variable, rule)
    return whole


def to_keep(variable: str, text: str) -> str:
    """The text as it is to be kept: of a file that holds a private key, its content. Refused
    `setting_invalid`."""
    field = next((one for one in FIELDS if one.variable == variable in KEPT), None)
    if field is None:
        raise _invalid(variable, f"only these are kept: {', '.join(KEPT)}")
    value = _read(field, text)
    alone: dict[str, Any] = {"github_app_id": 1} if field.name == "github_private_key" else {}
    _check(Settings(home=Path(), **{field.name: value}, **alone))
    return value if isinstance(value, str) else text


def _check(settings: Settings, *, key_may_come: bool = False) -> None:
    for variable, fits, rule in _rules(settings):
        if not fits and not (key_may_come and variable == "GITHUB_PRIVATE_KEY"):
            raise _invalid(variable, rule)


def default_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("AWO_HOME") or ".awo")


def _read(field: Field, text: str) -> Any:
    kind = Settings.__annotations__[field.name]
    if field.name == "github_private_key":
        try:
            return private_key.read(text)
        except ValueError as error:
            raise _invalid(field.variable, str(error)) from None
    if field.name in ("github_api_url", "github_server_url", "public_url"):
        return text.rstrip("/")
    if field.name == "github_webhook_secret":
        return tuple(part.strip() for part in text.split(","))
    if kind.startswith("tuple"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind == "bool":
        if text.lower() not in ("true", "false", "1", "0"):
            raise _invalid(field.variable, "true or false")
        return text.lower() in ("true", "1")
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError as error:
        raise _invalid(field.variable, f"{text!r} is not a number") from error
    return text


def _rules(of: Settings) -> tuple[tuple[str, bool, str], ...]:
    """(variable, whether its value fits, what fits). A NaN fits nowhere."""
    key, address = of.anthropic_api_key, of.anthropic_base_url
    no_limit = "a number from 0 (no limit) on"
    return (
        ("AWO_HOST", bool(of.host) and of.host.isprintable(), "an address or a name"),
        ("AWO_PORT", 0 <= of.port <= 65_535, "a port is between 0 and 65535"),
        ("AWO_LOG_LEVEL", of.log_level in get_args(LogLevel), "debug, info, warning or error"),
        ("AWO_SYNCHRONOUS", of.synchronous in get_args(Synchronous), "FULL, NORMAL or EXTRA"),
        ("AWO_RUNNING_TASKS", of.running_tasks >= 1, "at least one task must be able to run"),
        ("AWO_ORDERS_PER_REPOSITORY", of.orders_per_repository >= 0, no_limit),
        ("AWO_STARTS_PER_REPOSITORY_PER_HOUR", of.starts_per_repository_per_hour >= 0, no_limit),
        ("AWO_STARTS_PER_MINUTE", of.starts_per_minute >= 0, no_limit),
        ("AWO_DRAIN_S", 0 <= of.drain_s <= 3_600, "seconds, at most an hour"),
        ("AWO_BODY_LIMIT_BYTES", 1_024 <= of.body_limit_bytes <= 2**30, "1 KiB to 1 GiB"),
        (
            "AWO_PUBLIC_URL",
            not of.public_url or _plain_address(of.public_url),
            "an http or https address without user, query or fragment",
        ),
        ("AWO_AGENT_UID", 0 <= of.agent_uid < 2**31, "the number of a user"),
        (
            "ANTHROPIC_BASE_URL",
            not address or address.startswith(("https://", "http://")),
            "an http or https address",
        ),
        # Shorter ones could not be taken out of logs without taking words out.
        ("ANTHROPIC_API_KEY", not key or len(key) >= SHORTEST, f"at least {SHORTEST} characters"),
        (
            "AWO_AGENT_SCRIPT",
            not of.agent_script or Path(of.agent_script).is_file(),
            "a file that can be read",
        ),
        ("AWO_SECRET_KEY", _keys(of.secret_key), "32 bytes in base64 each, by comma"),
        *_github_rules(of),
    )


def _github_rules(of: Settings) -> tuple[tuple[str, bool, str], ...]:
    token, secrets = of.github_token, of.github_webhook_secret
    long_enough = f"at least {SHORTEST} printable characters, no spaces"
    address = "an https address without user, query or fragment (http only on loopback)"
    whole = bool(of.github_app_id) == bool(of.github_private_key)
    return (
        ("GITHUB_APP_ID", of.github_app_id >= 0, "the number of an App"),
        ("GITHUB_PRIVATE_KEY", whole, "GITHUB_APP_ID and GITHUB_PRIVATE_KEY need each other"),
        ("GITHUB_INSTALLATION_ID", of.github_installation_id >= 0, "the number of an installation"),
        ("GITHUB_TOKEN", not token or _secret(token), long_enough),
        (
            "GITHUB_WEBHOOK_SECRET",
            all(map(_secret, secrets)) and len(secrets) <= MAX_WEBHOOK_SECRETS,
            f"{long_enough}, each; {MAX_WEBHOOK_SECRETS} of them at most",
        ),
        ("GITHUB_API_URL", _address(of.github_api_url), address),
        ("GITHUB_SERVER_URL", _address(of.github_server_url), address),
        ("AWO_GITHUB_TIMEOUT_S", 1 <= of.github_timeout_s <= 30, "1 to 30 seconds"),
    )


def _keys(text: str) -> bool:
    """Their form; the vault reads them."""
    parts = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    return not text or (bool(parts) and all(len(part) == 44 for part in parts))


def _secret(text: str) -> bool:
    return len(text) >= SHORTEST and text.isascii() and text.isprintable() and " " not in text


def _address(text: str) -> bool:
    """Credentials are sent there: only encrypted, or to this machine."""
    if not _plain_address(text):
        return False
    parts = urlsplit(text)
    return parts.scheme == "https" or parts.hostname in LOOPBACK


def _plain_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return False
    odd = any(character in text for character in "@?#()[]<> ") and "[::1]" not in text
    return (
        text.isascii()
        and text.isprintable()
        and not odd
        and parts.scheme in ("http", "https")
        and bool(host)
    )


def _invalid(variable: str, problem: str) -> Refused:
    return Refused(
        "setting_invalid",
        f"{variable}: {problem}",
        hint="See docs/reference/settings.md.",
        field=variable,
    )
