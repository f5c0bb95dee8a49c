"""Everything that can be set, with its default. Read once from the environment.

`FIELDS` is the reference: docs/reference/settings.md lists each of them and a test compares.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

import msgspec

from agent_work_orders.errors import Refused
from agent_work_orders.sandbox_manager.sandbox_types import SANDBOX_TYPES
from agent_work_orders.security import given as givens
from agent_work_orders.security import private_key
from agent_work_orders.security.redaction import SHORTEST

KEY_FILE = "secret.key"
"""As in security/vault.py, which takes time to load."""

Synchronous = Literal["FULL", "NORMAL", "EXTRA"]
LogLevel = Literal["debug", "info", "warning", "error"]
LOOPBACK = ("127.0.0.1", "::1", "localhost")
AGENTS = ("claude_code", "command", "scripted")
"""As agent_executor/registry.py has them, which takes time to load."""
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
    closing_s: float = 1.0
    synchronous: Synchronous = "FULL"
    body_limit_bytes: int = 1_048_576
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    public_url: str = ""
    git_origins: tuple[str, ...] = ()
    agent_uid: str = ""
    agent_script: str = ""
    claude_binary: str = ""
    anthropic_base_url: str = ""
    anthropic_api_key: str = ""
    agent_idle_s: float = 900.0
    """Longer than Claude Code lets a command of its shell run in silence: ten minutes."""
    model_wait_floor_s: float = 30.0
    model_wait_longest_s: float = 900.0
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
    shown: bool = False
    """No secret belongs here: what does not fit is repeated, if it is shorter than any secret.
    Of every other only the shape is told."""


FIELDS = (
    Field("AWO_HOME", "home", "The data directory"),
    Field("AWO_HOST", "host", "Where `awo up` listens; anything but loopback needs API keys", True),
    Field("AWO_PORT", "port", "The port of `awo up`", True),
    Field("AWO_LOG_LEVEL", "log_level", "debug, info, warning or error", True),
    Field("AWO_DEFAULT_SANDBOX", "default_sandbox", "Sandbox type when an order names none", True),
    Field("AWO_DEFAULT_AGENT", "default_agent", "Agent when an order names none", True),
    Field("AWO_RUNNING_TASKS", "running_tasks", "Tasks that run at once, over all orders", True),
    Field(
        "AWO_ORDERS_PER_REPOSITORY",
        "orders_per_repository",
        "Orders of one repository at work at once; 0 is no limit",
        True,
    ),
    Field(
        "AWO_STARTS_PER_REPOSITORY_PER_HOUR",
        "starts_per_repository_per_hour",
        "Orders of one repository begun per hour; 0 is no limit; the local operator is exempt",
        True,
    ),
    Field(
        "AWO_STARTS_PER_MINUTE",
        "starts_per_minute",
        "Orders begun per minute; 0 is no limit; the local operator is exempt",
        True,
    ),
    Field("AWO_DRAIN_S", "drain_s", "Seconds that running tasks get to end after SIGTERM", True),
    Field("AWO_CLOSING_S", "closing_s", "Seconds of /readyz saying `draining` after SIGTERM", True),
    Field("AWO_SYNCHRONOUS", "synchronous", "SQLite's; below FULL a power cut loses", True),
    Field("AWO_BODY_LIMIT_BYTES", "body_limit_bytes", "Largest request body", True),
    Field("AWO_ALLOWED_HOSTS", "allowed_hosts", "Further Host headers to accept, by comma"),
    Field("AWO_ALLOWED_ORIGINS", "allowed_origins", "Further Origins to accept, by comma"),
    Field(
        "AWO_PUBLIC_URL",
        "public_url",
        "Where people open the dashboard; what is written to GitHub links there",
    ),
    Field("AWO_GIT_ORIGINS", "git_origins", "Plain-http git servers to allow, by comma"),
    Field("AWO_AGENT_UID", "agent_uid", "Uids for agents of a root server, first-last", True),
    Field("AWO_AGENT_SCRIPT", "agent_script", "What the scripted agent follows by default"),
    Field("AWO_CLAUDE_BINARY", "claude_binary", "Path of the claude program"),
    Field("ANTHROPIC_BASE_URL", "anthropic_base_url", "Address of the model's API"),
    Field("ANTHROPIC_API_KEY", "anthropic_api_key", "Key of the model's API"),
    Field(
        "AWO_AGENT_IDLE_S",
        "agent_idle_s",
        "Seconds of silence after which an agent is ended, within its time; 0 for no limit",
        True,
    ),
    Field(
        "AWO_MODEL_WAIT_FLOOR_S",
        "model_wait_floor_s",
        "Shortest wait for a model that does not answer or whose quota is used up; it doubles",
        True,
    ),
    Field(
        "AWO_MODEL_WAIT_LONGEST_S",
        "model_wait_longest_s",
        "Longest wait between two tries, unless the model named a later time",
        True,
    ),
    Field("GITHUB_APP_ID", "github_app_id", "Id of the GitHub App to act as", True),
    Field(
        "GITHUB_PRIVATE_KEY",
        "github_private_key",
        "The App's key: PEM text, base64 of it, or the path of a file that only its owner can read",
    ),
    Field(
        "GITHUB_INSTALLATION_ID",
        "github_installation_id",
        "The App's only installation; 0 finds it for each repository",
        True,
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
        True,
    ),
    Field(
        "AWO_GITHUB_RULES",
        "github_rules",
        "A file of rules for repositories that have none; the form of .awo/config.yaml",
    ),
    Field("AWO_FOUR_EYES", "four_eyes", "true: nobody approves in orders of their own", True),
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
    values["home"] = _home(str(values["home"]))
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
            raise _misfit(whole, variable, rule)
    return whole


def refuse_unknown(variable: str) -> None:
    """Refused `setting_invalid` unless it is the name of something that can be kept. A secret in
    the place of the name is not repeated."""
    if variable not in KEPT:
        raise _invalid(givens.named(variable), f"only these are kept: {', '.join(KEPT)}")


def to_keep(variable: str, text: str) -> str:
    """The text as it is to be kept: of a file that holds a private key, its content. Refused
    `setting_invalid`."""
    refuse_unknown(variable)
    field = next(one for one in FIELDS if one.variable == variable)
    value = _read(field, text)
    alone: dict[str, Any] = {"github_app_id": 1} if field.name == "github_private_key" else {}
    _check(Settings(home=Path(), **{field.name: value}, **alone))
    return value if isinstance(value, str) else text


def _check(settings: Settings, *, key_may_come: bool = False) -> None:
    for variable, fits, rule in _rules(settings):
        if not fits and not (key_may_come and variable == "GITHUB_PRIVATE_KEY"):
            raise _misfit(settings, variable, rule)


def _home(text: str) -> Path:
    """Told in many places from here on, so it must be what it says it is."""
    long = len(os.fsencode(text)) > 4_095 or any(len(os.fsencode(p)) > 255 for p in text.split("/"))
    if long or not text.isprintable() or "://" in text:
        raise _invalid("AWO_HOME", "the path of a folder", text)
    return Path(text).absolute()


def default_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("AWO_HOME") or ".awo")


def _read(field: Field, text: str) -> Any:
    kind = Settings.__annotations__[field.name]
    if field.name == "github_private_key":
        try:
            return private_key.read(text)
        except ValueError as error:
            raise _invalid(field.variable, str(error), text) from None
    if field.name in ("github_api_url", "github_server_url", "public_url"):
        return text.rstrip("/")
    if field.name == "github_webhook_secret":
        return tuple(part.strip() for part in text.split(","))
    if kind.startswith("tuple"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind == "bool":
        if text.lower() not in ("true", "false", "1", "0"):
            raise _invalid(field.variable, "true or false", text)
        return text.lower() in ("true", "1")
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError:
        raise _invalid(field.variable, "not a number", text) from None
    return text


def _rules(of: Settings) -> tuple[tuple[str, bool, str], ...]:
    """(variable, whether its value fits, what fits). A NaN fits nowhere."""
    no_limit = "a number from 0 (no limit) on"
    address = "an http or https address without user, query or fragment"
    floor_s, longest_s = of.model_wait_floor_s, of.model_wait_longest_s
    return (
        ("AWO_HOST", bool(of.host) and of.host.isprintable(), "an address or a name"),
        ("AWO_PORT", 0 <= of.port <= 65_535, "a port is between 0 and 65535"),
        ("AWO_LOG_LEVEL", of.log_level in get_args(LogLevel), "debug, info, warning or error"),
        ("AWO_SYNCHRONOUS", of.synchronous in get_args(Synchronous), "FULL, NORMAL or EXTRA"),
        ("AWO_DEFAULT_SANDBOX", of.default_sandbox in SANDBOX_TYPES, " or ".join(SANDBOX_TYPES)),
        ("AWO_DEFAULT_AGENT", of.default_agent in AGENTS, " or ".join(AGENTS)),
        ("AWO_RUNNING_TASKS", of.running_tasks >= 1, "at least one task must be able to run"),
        ("AWO_ORDERS_PER_REPOSITORY", of.orders_per_repository >= 0, no_limit),
        ("AWO_STARTS_PER_REPOSITORY_PER_HOUR", of.starts_per_repository_per_hour >= 0, no_limit),
        ("AWO_STARTS_PER_MINUTE", of.starts_per_minute >= 0, no_limit),
        ("AWO_DRAIN_S", 0 <= of.drain_s <= 3_600, "seconds, at most an hour"),
        ("AWO_CLOSING_S", 0 <= of.closing_s <= 600, "seconds, at most ten minutes"),
        ("AWO_BODY_LIMIT_BYTES", 1_024 <= of.body_limit_bytes <= 2**30, "1 KiB to 1 GiB"),
        ("AWO_PUBLIC_URL", _maybe_address(of.public_url), address),
        (
            "AWO_GIT_ORIGINS",
            all(map(givens.is_plain_address, of.git_origins)),
            f"{address}, each",
        ),
        ("AWO_AGENT_UID", givens.is_id_range(of.agent_uid), "a user's number, or first-last"),
        ("ANTHROPIC_BASE_URL", _maybe_address(of.anthropic_base_url), address),
        ("ANTHROPIC_API_KEY", _maybe_secret(of.anthropic_api_key), _LONG_ENOUGH),
        ("AWO_AGENT_IDLE_S", 0 <= of.agent_idle_s <= 86_400, "0 (no limit) to a day"),
        ("AWO_MODEL_WAIT_FLOOR_S", 1 <= floor_s <= longest_s, "1 s to AWO_MODEL_WAIT_LONGEST_S"),
        ("AWO_MODEL_WAIT_LONGEST_S", longest_s <= 86_400, "seconds, at most a day"),
        ("AWO_AGENT_SCRIPT", _maybe_file(of.agent_script), "a file that can be read"),
        ("AWO_GITHUB_RULES", _maybe_file(of.github_rules), "a file that can be read"),
        ("AWO_SECRET_KEY", givens.is_key_list(of.secret_key), "32 bytes in base64 each, by comma"),
        *_github_rules(of),
    )


# Shorter ones could not be taken out of logs without taking words out.
_LONG_ENOUGH = f"at least {SHORTEST} printable characters, no spaces"


def _github_rules(of: Settings) -> tuple[tuple[str, bool, str], ...]:
    secrets = of.github_webhook_secret
    address = "an https address without user, query or fragment (http only on loopback)"
    whole = bool(of.github_app_id) == bool(of.github_private_key)
    return (
        ("GITHUB_APP_ID", of.github_app_id >= 0, "the number of an App"),
        ("GITHUB_PRIVATE_KEY", whole, "GITHUB_APP_ID and GITHUB_PRIVATE_KEY need each other"),
        ("GITHUB_INSTALLATION_ID", of.github_installation_id >= 0, "the number of an installation"),
        ("GITHUB_TOKEN", _maybe_secret(of.github_token), _LONG_ENOUGH),
        (
            "GITHUB_WEBHOOK_SECRET",
            all(map(givens.is_secret, secrets)) and len(secrets) <= MAX_WEBHOOK_SECRETS,
            f"{_LONG_ENOUGH}, each; {MAX_WEBHOOK_SECRETS} of them at most",
        ),
        ("GITHUB_API_URL", _address(of.github_api_url), address),
        ("GITHUB_SERVER_URL", _address(of.github_server_url), address),
        ("AWO_GITHUB_TIMEOUT_S", 1 <= of.github_timeout_s <= 30, "1 to 30 seconds"),
    )


def _maybe_secret(text: str) -> bool:
    return not text or givens.is_secret(text)


def _maybe_address(text: str) -> bool:
    return not text or givens.is_plain_address(text)


def _maybe_file(text: str) -> bool:
    try:
        return not text or stat.S_ISREG(os.stat(text).st_mode)
    except (OSError, ValueError):
        return False


def _address(text: str) -> bool:
    """Credentials are sent there: only encrypted, or to this machine."""
    if not givens.is_plain_address(text):
        return False
    parts = urlsplit(text)
    return parts.scheme == "https" or parts.hostname in LOOPBACK


def _misfit(of: Settings, variable: str, rule: str) -> Refused:
    value = getattr(of, next(field.name for field in FIELDS if field.variable == variable))
    return _invalid(variable, rule, ",".join(value) if isinstance(value, tuple) else str(value))


def _invalid(variable: str, problem: str, given: str = "") -> Refused:
    """The one place where it is told what is wrong with a setting. What was given is described,
    not repeated (security/given.py)."""
    shown = any(field.shown for field in FIELDS if field.variable == variable)
    what = f"; given: {givens.told(given, shown=shown)}" if given else ""
    return Refused(
        "setting_invalid",
        f"{variable}: {problem}{what}",
        hint="See docs/reference/settings.md.",
        field=variable,
    )
