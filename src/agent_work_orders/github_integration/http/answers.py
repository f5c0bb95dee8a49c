"""What an answer means. Pure: an answer in, its JSON or a failure of errors.py out.

What the service says is a stranger's text: it is shortened and made printable before it is shown.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import msgspec

from agent_work_orders.errors import AgentWorkOrdersError, Environmental, NotFound, Permanent
from agent_work_orders.github_integration.credential import Credential
from agent_work_orders.github_integration.http.one_request import HttpAnswer

SHOWN = 300
MOST_ERRORS = 20
_NOT_ACCESSIBLE = ("resource not accessible by", "must have admin", "must be an owner")
_LEVELS = {"read": 1, "write": 2, "admin": 3}
_SSO_URL = re.compile(r"url=(https://[^\s;]{1,400})")


class Untrusted(Exception):
    """Not an answer that can be believed: cut off, not JSON, of another kind."""


def value(answer: HttpAnswer) -> Any:
    """The JSON of a successful answer, None for one that has none (204). Raises Untrusted."""
    if answer.status in (204, 205):
        return None
    kind, _, parameters = answer.headers.get("content-type", "").lower().partition(";")
    subtype = kind.strip().removeprefix("application/")
    if not (subtype == "json" or subtype.endswith("+json")):
        raise Untrusted(f"its type is {printable(kind) or 'not given'}, not JSON")
    charset = parameters.partition("charset=")[2].strip(' "')
    if charset not in ("", "utf-8", "utf8"):
        raise Untrusted(f"its text is {printable(charset)}, not UTF-8")
    try:
        return msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Untrusted("it is not JSON, or was cut off") from None


def message_and_errors(answer: HttpAnswer) -> tuple[str, list[str]]:
    """The service's message and the texts of its errors. Raises Untrusted."""
    found = value(answer)
    if not isinstance(found, dict):
        return "", []
    errors = found.get("errors")
    texts = [_error(entry) for entry in errors[:MOST_ERRORS]] if isinstance(errors, list) else []
    if isinstance(errors, str):
        texts = [printable(errors)]
    message = found.get("message")
    return printable(message if isinstance(message, str) else ""), texts


def refusal(
    what: str, answer: HttpAnswer, credential: Credential, *, repository: str = ""
) -> AgentWorkOrdersError:
    """The failure of a 4xx that is no limit. Of a 404 it says `github_not_found`; whether the
    repository is gone is for the caller to find out. Raises Untrusted."""
    message, errors = message_and_errors(answer)
    context = {"status": answer.status, "said": message, "errors": errors}
    lowered = message.lower()
    if answer.status == 401:
        return Environmental(
            "github_credentials_refused",
            f"GitHub does not accept {credential.name} to {what}: {message}",
            hint="Check GITHUB_APP_ID and GITHUB_PRIVATE_KEY, or make a new GITHUB_TOKEN.",
            **context,
        )
    if answer.status == 403 and "suspended" in lowered:
        return access_lost(repository, f"the installation is suspended ({credential.name})")
    if answer.status == 403 and "x-github-sso" in answer.headers:
        return _sign_on_needed(what, answer.headers["x-github-sso"], context)
    if answer.status == 403 and lowered.startswith(_NOT_ACCESSIBLE):
        return permission_missing(what, answer, credential, context)
    if answer.status == 404 and not allows(answer, credential):
        return permission_missing(what, answer, credential, context)
    if answer.status == 404:
        return NotFound(
            "github_not_found",
            f"GitHub knows no such thing (to {what})",
            hint="It may have been deleted, or the number is another repository's.",
            **context,
        )
    detail = "; ".join(text for text in errors if text)
    return Permanent(
        "github_refused",
        f"GitHub refused to {what}: {message}{f' ({detail})' if detail else ''}",
        hint="The words of GitHub say what it misses.",
        **context,
    )


def access_lost(repository: str, why: str) -> Environmental:
    return Environmental(
        "github_access_lost",
        f"GitHub does not let us reach {repository or 'the repository'}: {why}",
        hint="Install the App for this repository (or unsuspend it), or check the token's access "
        "and the repository's name; the work goes on afterwards.",
        repository=repository,
    )


def permission_missing(
    what: str, answer: HttpAnswer, credential: Credential, context: dict[str, Any]
) -> Environmental:
    needed = answer.headers.get("x-accepted-github-permissions", "")
    if not needed and "x-accepted-oauth-scopes" in answer.headers:
        needed = f"scope {answer.headers['x-accepted-oauth-scopes'] or 'repo'}"
    named = printable(needed).replace(";", " or").replace(",", " and ") or "a permission"
    return Environmental(
        "github_permission_missing",
        f"{credential.name} may not {what}: it needs {named}",
        hint="Grant it in the settings of the App (and accept it for the installation) or of the "
        "token; the work goes on afterwards.",
        needed=printable(needed),
        **context,
    )


def allows(answer: HttpAnswer, credential: Credential) -> bool:
    """Whether what the answer says is needed is among what the credential has, as far as both are
    known. `a=write,b=read; c=write` means (a and b) or c."""
    needed = answer.headers.get("x-accepted-github-permissions", "")
    if credential.permissions is None or not needed:
        return True
    for alternative in needed.split(";"):
        pairs = [pair.strip().partition("=") for pair in alternative.split(",") if pair.strip()]
        if all(
            reaches(credential.permissions.get(name, ""), level) or name == "metadata"
            for name, _, level in pairs
        ):
            return True
    return False


def reaches(have: str, level: str) -> bool:
    """Whether a permission of this level suffices for that one."""
    return _LEVELS.get(have, 0) >= _LEVELS.get(level, 1)


def _sign_on_needed(what: str, header: str, context: dict[str, Any]) -> Environmental:
    address = _SSO_URL.search(header)
    where = f" at {address[1]}" if address and urlsplit(address[1]).hostname else ""
    return Environmental(
        "github_permission_missing",
        f"The organisation wants single sign-on before the token may {what}",
        hint=f"Authorise the token for the organisation{where}; the work goes on afterwards.",
        needed="single sign-on",
        **context,
    )


def _error(entry: Any) -> str:
    if isinstance(entry, str):
        return printable(entry)
    if not isinstance(entry, dict):
        return ""
    if isinstance(entry.get("message"), str) and entry["message"]:
        return printable(entry["message"])
    resource, field, code = (str(entry.get(name) or "") for name in ("resource", "field", "code"))
    return printable(f"{resource}.{field} {code}".strip(". "))


def printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text[: 2 * SHOWN]).strip()[
        :SHOWN
    ]
