"""What fits in each setting, as a table. What does not fit is told by its shape, not repeated."""

from __future__ import annotations

import os
import re
import stat
from typing import get_args
from urllib.parse import urlsplit

from agent_work_orders.errors import Refused
from agent_work_orders.sandbox_manager.sandbox_types import SANDBOX_TYPES
from agent_work_orders.security import given as givens
from agent_work_orders.security.redaction import SHORTEST
from agent_work_orders.settings.fields import FIELDS
from agent_work_orders.settings.sections import LogLevel, Settings, Synchronous, value_of

LOOPBACK = ("127.0.0.1", "::1", "localhost")
AGENTS = ("claude_code", "command", "scripted")
"""As agent_executor/registry.py has them, which takes time to load."""
MAX_WEBHOOK_SECRETS = 4
"""One in use and one to come are enough; each is tried on every delivery."""


def rules(of: Settings) -> tuple[tuple[str, bool, str], ...]:
    """(variable, whether its value fits, what fits). A NaN fits nowhere."""
    no_limit = "a number from 0 (no limit) on"
    address = "an http or https address without user, query or fragment"
    floor_s, longest_s = of.agents.model_wait_floor_s, of.agents.model_wait_longest_s
    return (
        ("AWO_HOST", bool(of.server.host) and of.server.host.isprintable(), "an address or a name"),
        ("AWO_PORT", 0 <= of.server.port <= 65_535, "a port is between 0 and 65535"),
        (
            "AWO_LOG_LEVEL",
            of.server.log_level in get_args(LogLevel),
            "debug, info, warning or error",
        ),
        (
            "AWO_SYNCHRONOUS",
            of.storage.synchronous in get_args(Synchronous),
            "FULL, NORMAL or EXTRA",
        ),
        (
            "AWO_DEFAULT_SANDBOX",
            of.orders.default_sandbox in SANDBOX_TYPES,
            " or ".join(SANDBOX_TYPES),
        ),
        ("AWO_DEFAULT_AGENT", of.agents.default_agent in AGENTS, " or ".join(AGENTS)),
        (
            "AWO_RUNNING_TASKS",
            of.limits.running_tasks >= 1,
            "at least one task must be able to run",
        ),
        ("AWO_ORDERS_PER_REPOSITORY", of.limits.orders_per_repository >= 0, no_limit),
        (
            "AWO_STARTS_PER_REPOSITORY_PER_HOUR",
            of.limits.starts_per_repository_per_hour >= 0,
            no_limit,
        ),
        ("AWO_STARTS_PER_MINUTE", of.limits.starts_per_minute >= 0, no_limit),
        ("AWO_DRAIN_S", 0 <= of.server.drain_s <= 3_600, "seconds, at most an hour"),
        ("AWO_CLOSING_S", 0 <= of.server.closing_s <= 600, "seconds, at most ten minutes"),
        ("AWO_BODY_LIMIT_BYTES", 1_024 <= of.server.body_limit_bytes <= 2**30, "1 KiB to 1 GiB"),
        ("AWO_PUBLIC_URL", _maybe_address(of.server.public_url), address),
        (
            "AWO_GIT_ORIGINS",
            all(map(givens.is_plain_address, of.orders.git_origins)),
            f"{address}, each",
        ),
        (
            "AWO_AGENT_UID",
            givens.is_id_range(of.agents.agent_uid),
            "a user's number, or first-last",
        ),
        ("ANTHROPIC_BASE_URL", _maybe_address(of.agents.anthropic_base_url), address),
        ("ANTHROPIC_API_KEY", _maybe_secret(of.agents.anthropic_api_key), _LONG_ENOUGH),
        ("AWO_AGENT_IDLE_S", 0 <= of.agents.agent_idle_s <= 86_400, "0 (no limit) to a day"),
        ("AWO_MODEL_WAIT_FLOOR_S", 1 <= floor_s <= longest_s, "1 s to AWO_MODEL_WAIT_LONGEST_S"),
        ("AWO_MODEL_WAIT_LONGEST_S", longest_s <= 86_400, "seconds, at most a day"),
        ("AWO_AGENT_SCRIPT", _maybe_file(of.agents.agent_script), "a file that can be read"),
        ("AWO_GITHUB_RULES", _maybe_file(of.github.rules), "a file that can be read"),
        (
            "AWO_SECRET_KEY",
            givens.is_key_list(of.storage.secret_key),
            "32 bytes in base64 each, by comma",
        ),
        *network_rules(of),
        *container_rules(of),
        *sign_in_rules(of),
        *github_rules(of),
    )


def network_rules(of: Settings) -> tuple[tuple[str, bool, str], ...]:
    return (
        (
            "AWO_HTTPS_PROXY",
            not of.network.proxy or givens.is_proxy(of.network.proxy),
            "http://host:port, with user:password@ before the host if it wants them",
        ),
        (
            "AWO_NO_PROXY",
            all(map(_NO_PROXY.fullmatch, of.network.no_proxy)),
            "hosts, names that begin with a dot, or *; without port, by comma",
        ),
        ("AWO_CA_BUNDLE", _maybe_certificates(of.network.certificates), "a PEM file"),
    )


# Shorter ones could not be taken out of logs without taking words out.
_LONG_ENOUGH = f"at least {SHORTEST} printable characters, no spaces"


_NO_PROXY = re.compile(r"\*|\.?[A-Za-z0-9_][A-Za-z0-9._-]{0,252}|[0-9A-Fa-f:.]{2,45}")
_APP_ID = re.compile(r"[1-9][0-9]{0,18}|Iv[0-9A-Za-z._]{6,60}")


def container_rules(of: Settings) -> tuple[tuple[str, bool, str], ...]:
    return (
        (
            "AWO_CONTAINER_SOCKETS",
            all(path.startswith("/") for path in of.containers.sockets),
            "paths that begin with /",
        ),
        ("AWO_CONTAINER_ROOTFS", _maybe_file(of.containers.rootfs), "a file that can be read"),
    )


def sign_in_rules(of: Settings) -> tuple[tuple[str, bool, str], ...]:
    """What belongs to a cloud is looked at where that cloud is used: others read it, too."""
    sign_in = of.sign_in
    address = "an http or https address without user, query or fragment"
    always: tuple[tuple[str, bool, str], ...] = (
        ("ANTHROPIC_AUTH_TOKEN", _maybe_secret(sign_in.gateway_token), _LONG_ENOUGH),
        ("CLAUDE_CODE_OAUTH_TOKEN", _maybe_secret(sign_in.subscription_token), _LONG_ENOUGH),
        (
            "CLAUDE_CODE_USE_VERTEX",
            not (sign_in.bedrock and sign_in.vertex),
            "one of CLAUDE_CODE_USE_BEDROCK and CLAUDE_CODE_USE_VERTEX",
        ),
    )
    if sign_in.bedrock:
        pair = bool(sign_in.aws_access_key_id) == bool(sign_in.aws_secret_access_key)
        always += (
            ("AWS_REGION", _is_word(sign_in.aws_region), "a region: Bedrock needs one"),
            ("ANTHROPIC_BEDROCK_BASE_URL", _maybe_address(sign_in.bedrock_base_url), address),
            ("AWS_BEARER_TOKEN_BEDROCK", _maybe_secret(sign_in.aws_bearer_token), _LONG_ENOUGH),
            ("AWS_SECRET_ACCESS_KEY", _maybe_secret(sign_in.aws_secret_access_key), _LONG_ENOUGH),
            ("AWS_SESSION_TOKEN", _maybe_secret(sign_in.aws_session_token), _LONG_ENOUGH),
            (
                "AWS_ACCESS_KEY_ID",
                pair,
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY need each other",
            ),
        )
    if sign_in.vertex:
        always += (
            ("CLOUD_ML_REGION", _is_word(sign_in.vertex_region), "a region: Vertex needs one"),
            (
                "ANTHROPIC_VERTEX_PROJECT_ID",
                _is_word(sign_in.vertex_project),
                "the id of a project: Vertex needs one",
            ),
            ("ANTHROPIC_VERTEX_BASE_URL", _maybe_address(sign_in.vertex_base_url), address),
        )
    return always


def _is_word(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}", text) is not None


def github_rules(of: Settings) -> tuple[tuple[str, bool, str], ...]:
    secrets = of.github.webhook_secret
    address = "an https address without user, query or fragment (http only on loopback)"
    whole = bool(of.github.app_id) == bool(of.github.private_key)
    return (
        (
            "GITHUB_APP_ID",
            not of.github.app_id or _APP_ID.fullmatch(of.github.app_id) is not None,
            "the number of an App, or its client id (Iv…)",
        ),
        ("GITHUB_PRIVATE_KEY", whole, "GITHUB_APP_ID and GITHUB_PRIVATE_KEY need each other"),
        ("GITHUB_INSTALLATION_ID", of.github.installation_id >= 0, "the number of an installation"),
        ("GITHUB_TOKEN", _maybe_secret(of.github.token), _LONG_ENOUGH),
        (
            "GITHUB_WEBHOOK_SECRET",
            all(map(givens.is_secret, secrets)) and len(secrets) <= MAX_WEBHOOK_SECRETS,
            f"{_LONG_ENOUGH}, each; {MAX_WEBHOOK_SECRETS} of them at most",
        ),
        ("GITHUB_API_URL", _address(of.github.api_url), address),
        ("GITHUB_SERVER_URL", _address(of.github.server_url), address),
        ("AWO_GITHUB_TIMEOUT_S", 1 <= of.github.timeout_s <= 30, "1 to 30 seconds"),
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


def _maybe_certificates(path: str) -> bool:
    if not path:
        return True
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except (OSError, ValueError):
        return False
    return True


def _address(text: str) -> bool:
    """Credentials are sent there: only encrypted, or to this machine."""
    if not givens.is_plain_address(text):
        return False
    parts = urlsplit(text)
    return parts.scheme == "https" or parts.hostname in LOOPBACK


def misfit(of: Settings, variable: str, rule: str) -> Refused:
    value = value_of(of, next(field.name for field in FIELDS if field.variable == variable))
    return invalid(variable, rule, ",".join(value) if isinstance(value, tuple) else str(value))


def invalid(variable: str, problem: str, given: str = "") -> Refused:
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
