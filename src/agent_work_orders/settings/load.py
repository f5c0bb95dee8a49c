"""Settings from the environment, read once, with what a command line gave on top."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agent_work_orders.agent_executor import claude_mcp
from agent_work_orders.security import given as givens
from agent_work_orders.security import google_credentials, private_key
from agent_work_orders.settings import home as homes
from agent_work_orders.settings.fields import FIELDS, KEPT, Field
from agent_work_orders.settings.rules import github_rules, invalid, misfit, rules
from agent_work_orders.settings.sections import Settings, changed, kind_of, value_of

KEY_FILE = "secret.key"
"""As in security/vault.py, which takes time to load."""


def load(
    environ: Mapping[str, str] | None = None,
    *,
    home: Path | str | None = None,
    host: str | None = None,
    port: int | None = None,
) -> Settings:
    """Refused `setting_invalid`."""
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    for field in FIELDS:
        if field.name != "home" and environ.get(field.variable, "") != "":
            values[field.name] = _read(field, environ[field.variable])
    if environ.get("GITHUB_WEBHOOK_SECRET") == "":
        # Who sets it means to check deliveries: an empty one would be signed by anybody.
        raise invalid("GITHUB_WEBHOOK_SECRET", "it is empty; remove it, or give a secret")
    given = {"server.host": host, "server.port": port}
    values |= {name: value for name, value in given.items() if value is not None}
    place = homes.find(environ, Path.cwd()) if home is None else homes.Place(home=Path(home))
    settings = changed(Settings(home=_home(str(place.home)), repository=place.repository), values)
    may_keep = settings.storage.secret_key or (settings.home / KEY_FILE).exists()
    _check(settings, key_may_come=bool(may_keep))
    return settings


def with_kept(settings: Settings, kept: Mapping[str, str]) -> Settings:
    """With credentials that were kept, where the environment gave none. Refused
    `setting_invalid`."""
    fields = {field.variable: field for field in FIELDS if field.variable in KEPT}
    values = {
        fields[name].name: _read(fields[name], secret)
        for name, secret in kept.items()
        if name in fields and not value_of(settings, fields[name].name)
    }
    whole = changed(settings, values)
    for variable, fits, rule in github_rules(whole):
        if not fits:
            raise misfit(whole, variable, rule)
    return whole


def refuse_unknown(variable: str) -> None:
    """Refused `setting_invalid` unless it is the name of something that can be kept. A secret in
    the place of the name is not repeated."""
    if variable not in KEPT:
        raise invalid(givens.named(variable), f"only these are kept: {', '.join(KEPT)}")


def to_keep(variable: str, text: str) -> str:
    """The text as it is to be kept: of a file that holds a private key, its content. Refused
    `setting_invalid`."""
    refuse_unknown(variable)
    field = next(one for one in FIELDS if one.variable == variable)
    value = _read(field, text)
    values = {field.name: value}
    if field.variable == "GITHUB_PRIVATE_KEY":
        values["github.app_id"] = "1"
    if field.variable == "GITHUB_APP_ID":
        values["github.private_key"] = "the other half"
    _check(changed(Settings(home=Path()), values))
    return value if isinstance(value, str) else text


def _check(settings: Settings, *, key_may_come: bool = False) -> None:
    for variable, fits, rule in rules(settings):
        if not fits and not (key_may_come and variable == "GITHUB_PRIVATE_KEY"):
            raise misfit(settings, variable, rule)


def _home(text: str) -> Path:
    """Told in many places from here on, so it must be what it says it is."""
    long = len(os.fsencode(text)) > 4_095 or any(len(os.fsencode(p)) > 255 for p in text.split("/"))
    if long or not text.isprintable() or "://" in text:
        raise invalid("AWO_HOME", "the path of a folder", text)
    place = Path(text).absolute()
    if not _is_or_may_be_folder(place):
        raise invalid("AWO_HOME", "a file stands there, and it is to be a folder", text)
    return place


def _is_or_may_be_folder(place: Path) -> bool:
    try:
        there = next(one for one in (place, *place.parents) if os.path.lexists(one))
    except OSError:
        return False
    return there.is_dir()


def _mcp_config(path: str) -> str:
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text"
        raise ValueError(f"a file that can be read ({why})") from None
    claude_mcp.servers(text)
    return text


# The value is what stands in the file that is named.
_FILES: dict[str, Callable[[str], str]] = {
    "agents.mcp_config": _mcp_config,
    "github.private_key": private_key.read,
    "sign_in.google_credentials": google_credentials.read,
}


def _read(field: Field, text: str) -> Any:
    kind = kind_of(field.name)
    if field.name in _FILES:
        try:
            return _FILES[field.name](text)
        except ValueError as error:
            raise invalid(field.variable, str(error), text) from None
    if field.name in ("github.api_url", "github.server_url", "server.public_url"):
        return text.rstrip("/")
    if field.name == "github.webhook_secret":
        return tuple(part.strip() for part in text.split(","))
    if kind.startswith("tuple"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind == "bool":
        if text.lower() not in ("true", "false", "1", "0"):
            raise invalid(field.variable, "true or false", text)
        return text.lower() in ("true", "1")
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError:
        raise invalid(field.variable, "not a number", text) from None
    return text
