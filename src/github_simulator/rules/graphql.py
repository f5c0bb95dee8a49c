"""GraphQL: it answers 200 and says what is wrong in `errors`."""

from __future__ import annotations

from github_simulator.rules.rule import declare

_GRAPHQL = "graphql/overview/rate-limits-and-query-limits-for-the-graphql-api"
_MUTATION = "graphql/reference/mutations"
GRAPHQL_QUERY = declare(
    "graphql_query",
    200,
    "A query attribute must be specified and must be a string.",
    "graphql/guides/forming-calls-with-graphql",
)
GRAPHQL_SYNTAX = declare("graphql_syntax", 200, "Parse error", "spec.graphql.org: Language")
GRAPHQL_FIELD = declare(
    "graphql_field", 200, "Field doesn't exist", "spec.graphql.org: Field Selections"
)
GRAPHQL_ARGUMENT = declare(
    "graphql_argument", 200, "Field doesn't accept argument", "spec.graphql.org: Argument Names"
)
GRAPHQL_REQUIRED = declare(
    "graphql_required",
    200,
    "Field is missing required arguments",
    "spec.graphql.org: Required Arguments",
)
GRAPHQL_SELECTION = declare(
    "graphql_selection",
    200,
    "Field must have selections",
    "spec.graphql.org: Leaf Field Selections",
)
GRAPHQL_VARIABLE = declare(
    "graphql_variable",
    200,
    "Variable was provided invalid value",
    "spec.graphql.org: Coercing Variable Values",
)
GRAPHQL_PAGES = declare(
    "graphql_pages",
    200,
    "You must provide a `first` or `last` value to properly paginate the connection.",
    f"{_GRAPHQL}#node-limit",
)
GRAPHQL_EXCESS = declare(
    "graphql_excess",
    200,
    "Requesting too many records on the connection exceeds the limit of 100 records.",
    f"{_GRAPHQL}#node-limit",
)
GRAPHQL_NO_NODE = declare(
    "graphql_no_node",
    200,
    "Could not resolve to a node with the global id",
    "graphql/reference/queries#node",
)
GRAPHQL_NO_REPOSITORY = declare(
    "graphql_no_repository",
    200,
    "Could not resolve to a Repository",
    "graphql/reference/queries#repository",
)
GRAPHQL_NO_PULL = declare(
    "graphql_no_pull",
    200,
    "Could not resolve to a PullRequest",
    "graphql/reference/objects#repository",
)
GRAPHQL_FORBIDDEN = declare(
    "graphql_forbidden", 200, "Resource not accessible by integration", _MUTATION
)
AUTO_MERGE_OFF = declare(
    "auto_merge_off",
    200,
    "Pull request Auto merge is not allowed for this repository",
    f"{_MUTATION}#enablepullrequestautomerge",
)
AUTO_MERGE_UNPROTECTED = declare(
    "auto_merge_unprotected",
    200,
    "Pull request Protected branch rules not configured for this branch",
    f"{_MUTATION}#enablepullrequestautomerge",
)
AUTO_MERGE_CLEAN = declare(
    "auto_merge_clean",
    200,
    "Pull request Pull request is in clean status",
    f"{_MUTATION}#enablepullrequestautomerge",
)
AUTO_MERGE_DRAFT = declare(
    "auto_merge_draft",
    200,
    "Pull request is in draft state",
    f"{_MUTATION}#enablepullrequestautomerge",
)
AUTO_MERGE_CLOSED = declare(
    "auto_merge_closed", 200, "Pull request is closed", f"{_MUTATION}#enablepullrequestautomerge"
)
AUTO_MERGE_METHOD = declare(
    "auto_merge_method",
    200,
    "Merge method is not allowed on this repository",
    f"{_MUTATION}#enablepullrequestautomerge",
)
AUTO_MERGE_HEAD = declare(
    "auto_merge_head",
    200,
    "Head branch was modified. Review and try the merge again.",
    f"{_MUTATION}#enablepullrequestautomerge",
)
AUTO_MERGE_NOT_ON = declare(
    "auto_merge_not_on",
    200,
    "Can't disable auto-merge for this pull request",
    f"{_MUTATION}#disablepullrequestautomerge",
)
AUTO_MERGE_UNSTABLE = declare(
    "auto_merge_unstable",
    200,
    "Pull request Pull request is in unstable status",
    f"{_MUTATION}#enablepullrequestautomerge",
)
DRAFT_CLOSED = declare(
    "draft_closed", 200, "Pull request is closed", f"{_MUTATION}#markpullrequestreadyforreview"
)
