"""What is refused for its form, or for who asks."""

from __future__ import annotations

from github_simulator.rules.rule import INVALID, declare

_TROUBLE = "rest/using-the-rest-api/troubleshooting-the-rest-api"
_AUTH = "rest/authentication/permissions-required-for-github-apps"

NO_SUCH_ROUTE = declare(
    "no_such_route", 404, "Not Found", f"{_TROUBLE}#404-not-found-for-an-existing-resource"
)
NOT_JSON = declare("not_json", 400, "Problems parsing JSON", f"{_TROUBLE}#validation-failed; 400")
NOT_AN_OBJECT = declare("not_an_object", 400, "Body should be a JSON object", f"{_TROUBLE}; 400")
FIELD_MISSING = declare(
    "field_missing", 422, "Invalid request.", "requestBody.required of the operation"
)
FIELD_TYPE = declare(
    "field_type", 422, "Invalid request.", "requestBody.properties of the operation"
)
FIELD_CHOICE = declare("field_choice", 422, "Invalid request.", "requestBody enum of the operation")
QUERY_CHOICE = declare("query_choice", 422, INVALID, "parameters enum of the operation")

QUERY_SINCE = declare(
    "query_since", 422, INVALID, "parameters: since is a timestamp in ISO 8601 format"
)
SIGN_IN = declare("sign_in", 401, "Requires authentication", f"{_TROUBLE}; 401 without credentials")
APP_TOKEN_ONLY = declare(
    "app_token_only",
    401,
    "A JSON web token could not be decoded",
    "apps/get-authenticated: a JWT is required",
)
NOT_WITH_APP_TOKEN = declare(
    "not_with_app_token",
    403,
    "Resource not accessible by integration",
    "rest/authentication/authenticating-to-the-rest-api: a JWT serves /app only",
)
INSTALLATION_ONLY = declare(
    "installation_only",
    403,
    "You must authenticate with an installation access token in order to list repositories for "
    "an installation.",
    "apps/list-repos-accessible-to-installation",
)
PERSON_ONLY = declare(
    "person_only",
    403,
    "Resource not accessible by integration",
    "users/get-authenticated: user tokens only",
)
CHECKS_BY_APPS = declare(
    "checks_by_apps",
    403,
    "You must authenticate via a GitHub App.",
    "checks/create: only GitHub Apps write checks",
)
SUSPENDED = declare(
    "suspended", 403, "This installation has been suspended", "apps/suspend-installation"
)
PERMISSION = declare("permission", 403, "Resource not accessible by integration", _AUTH)
TOKEN_PERMISSION = declare(
    "token_permission",
    403,
    "Resource not accessible by personal access token",
    "rest/authentication/permissions-required-for-fine-grained-personal-access-tokens",
)
ROLE_PUSH = declare(
    "role_push", 403, "Must have push access to repository", "repository roles: write"
)
ROLE_ADMIN = declare(
    "role_admin", 403, "Must have admin rights to Repository.", "repository roles: admin"
)
HIDDEN = declare("hidden", 404, "Not Found", f"{_TROUBLE}#404-not-found-for-an-existing-resource")
MOVED = declare(
    "moved", 301, "Moved Permanently", "rest/using-the-rest-api/best-practices: follow redirects"
)
MOVED_WRITE = declare(
    "moved_write",
    307,
    "Moved Permanently",
    "octokit/fixtures rename-repository: what writes is sent again to where it leads",
)
ARCHIVED = declare(
    "archived",
    403,
    "Repository was archived so is read-only.",
    "repositories/archiving-a-github-repository/archiving-repositories",
)
