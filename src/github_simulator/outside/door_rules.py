"""What GitHub refuses before it looks at what is asked: the request's form and its credential.

They are rules like those of `refusals`, in a list of their own: these are applied by the outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from github_simulator.outside import app_jwt
from github_simulator.rules import refusals
from github_simulator.rules.refusals import Rule

RULES: dict[str, Rule] = {}

_START = "rest/using-the-rest-api/getting-started-with-the-rest-api"
_TROUBLE = "rest/using-the-rest-api/troubleshooting-the-rest-api"
_JWT = "apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token"
_TOKEN = "apps/create-installation-access-token"


def _rule(id: str, status: int, message: str, cites: str) -> Rule:
    RULES[id] = rule = Rule(id=id, status=status, message=message, cites=cites)
    return rule


@contextmanager
def without(rule_id: str) -> Iterator[None]:
    """For tests: as if this rule had never been written."""
    if rule_id not in RULES:
        raise KeyError(rule_id)
    refusals._disabled.add(rule_id)
    try:
        yield
    finally:
        refusals._disabled.discard(rule_id)


# The request's form.
NO_USER_AGENT = _rule(
    "door_user_agent",
    403,
    "Request forbidden by administrative rules. Please make sure your request has a User-Agent "
    "header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api"
    "#user-agent-required). Check https://developer.github.com for other possible causes.",
    f"{_START}#user-agent-required",
)
API_VERSION = _rule(
    "door_api_version",
    400,
    "is not a supported version",
    "rest/about-the-rest-api/api-versions: an unsupported version gets 400",
)
ACCEPT = _rule(
    "door_accept",
    415,
    "Must accept 'application/json'.",
    f"{_START}#accept; 415 for what it cannot send",
)
TOO_LARGE = _rule("door_too_large", 413, "Payload too large", f"{_TROUBLE}; 413")
METHOD = _rule("door_method", 405, "Method Not Allowed", "RFC 9110: a method no operation has")
ENCODING = _rule("door_encoding", 415, "Unsupported Media Type", "RFC 9110: Content-Encoding")

# Who asks.
BAD_CREDENTIALS = _rule(
    "door_bad_credentials", 401, "Bad credentials", f"{_TROUBLE}; 401 for a wrong credential"
)
JWT = _rule("door_jwt", 401, app_jwt.NOT_DECODED, _JWT)
NO_SUCH_APP = _rule("door_no_such_app", 404, app_jwt.UNKNOWN_ISS, f"{_JWT}: iss")
JWT_SCHEME = _rule(
    "door_jwt_scheme", 401, app_jwt.NOT_DECODED, f"{_JWT}: a JWT needs `Authorization: Bearer`"
)
EXPIRED = _rule("door_expired", 401, "Bad credentials", f"{_TOKEN}: expires after one hour")
REVOKED = _rule("door_revoked", 401, "Bad credentials", "apps/revoke-installation-access-token")
UNINSTALLED = _rule("door_uninstalled", 401, "Bad credentials", "apps/delete-installation")

# Tokens of installations.
NOT_INSTALLED = _rule("token_not_installed", 404, "Not Found", f"{_TOKEN} 404")
SUSPENDED = _rule("token_suspended", 403, "This installation has been suspended", f"{_TOKEN} 403")
NOT_GRANTED = _rule(
    "token_not_granted",
    422,
    "The permissions requested are not granted to this installation.",
    f"{_TOKEN} 422",
)
NOT_ITS_REPOSITORY = _rule(
    "token_not_its_repository",
    422,
    "There is at least one repository that does not exist or is not accessible to the parent "
    "installation.",
    f"{_TOKEN} 422",
)
TOO_MANY_REPOSITORIES = _rule(
    "token_too_many_repositories",
    422,
    "A maximum of 500 repositories can be selected.",
    f"{_TOKEN}: up to 500 repositories",
)
EMPTY_SELECTION = _rule(
    "token_empty_selection",
    422,
    "The repositories or repository_ids given must not be empty.",
    f"{_TOKEN}: repositories are narrowed, not taken away",
)

NO_SUCH_CODE = _rule("no_such_code", 404, "Not Found", "apps/create-from-manifest 404")

# Deliveries.
NO_DELIVERY = _rule("no_delivery", 404, "Not Found", "apps/get-webhook-delivery 404")
OLD_DELIVERY = _rule(
    "old_delivery",
    404,
    "Not Found",
    "webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks: the past 3 days",
)
