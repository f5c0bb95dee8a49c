"""For every rule of GraphQL one document that it refuses."""

from __future__ import annotations

from typing import Any

from refused_requests import PROTECTION, Example
from town import Town

from github_simulator.call import Answer

THREADS = '{repository(owner: "octo", name: "hello") {pullRequest(number: 1) {reviewThreads%s}}}'
ENABLE = """
mutation Enable($id: ID!, $method: PullRequestMergeMethod, $head: GitObjectID) {
  enablePullRequestAutoMerge(
    input: {pullRequestId: $id, mergeMethod: $method, expectedHeadOid: $head}
  ) { pullRequest { autoMergeRequest { mergeMethod enabledBy { login } } } }
}
"""
CHECKS = {"required_status_checks": {"strict": False, "contexts": ["ci"]}}


def sends(query: Any, who: str = "ann", pull: bool = False, **variables: Any) -> Example:
    def example(town: Town) -> Answer:
        if pull:
            town.pull()
        return town.ask(who, "POST", "/graphql", {"query": query, "variables": variables})

    return example


def simple(
    name: str, id: str, argument: str = "pullRequestId", result: str = "clientMutationId"
) -> str:
    return f'mutation {{ {name}(input: {{{argument}: "{id}"}}) {{ {result} }} }}'


def pull_id(town: Town, number: int) -> str:
    found: str = town.do("awo", "GET", f"~/pulls/{number}")["node_id"]
    return found


def ready_to_enable(town: Town, **rules: Any) -> tuple[int, str]:
    """A pull request that waits for a check, where auto-merge is allowed."""
    town.do("bob", "PATCH", "~", {"allow_auto_merge": True})
    number = town.pull()
    town.do("bob", "PUT", "~/branches/main/protection", {**PROTECTION, **(rules or CHECKS)})
    return number, pull_id(town, number)


def enables(prepare: str = "", **variables: Any) -> Example:
    def example(town: Town) -> Answer:
        number, id = ready_to_enable(town)
        at = f"~/pulls/{number}"
        head = town.hello.pulls[number].head_sha
        match prepare:
            case "off":
                town.hello.allow_auto_merge = False
            case "unprotected":
                town.do("bob", "DELETE", "~/branches/main/protection")
            case "clean":
                town.do("ann", "POST", f"~/statuses/{head}", {"state": "success", "context": "ci"})
            case "unstable":
                town.do("ann", "POST", f"~/statuses/{head}", {"state": "success", "context": "ci"})
                town.do("ann", "POST", f"~/statuses/{head}", {"state": "failure", "context": "x"})
            case "draft":
                town.hello.pulls[number].draft = True
            case "closed":
                town.do("ann", "PATCH", at, {"state": "closed"})
            case "method":
                town.hello.allow_squash_merge = False
        body = {"query": ENABLE, "variables": {"id": id, **variables}}
        return town.ask("awo", "POST", "/graphql", body)

    return example


def _not_on(town: Town) -> Answer:
    _, id = ready_to_enable(town)
    return sends(simple("disablePullRequestAutoMerge", id))(town)


def _forbidden(town: Town) -> Answer:
    id = pull_id(town, town.pull())
    return sends(simple("convertPullRequestToDraft", id), who="weak")(town)


def _draft_closed(town: Town) -> Answer:
    number = town.pull(draft=True)
    town.do("ann", "PATCH", f"~/pulls/{number}", {"state": "closed"})
    return sends(simple("markPullRequestReadyForReview", pull_id(town, number)))(town)


EXAMPLES: dict[str, Example] = {
    "graphql_query": sends(None),
    "graphql_syntax": sends("{ viewer { login }"),
    "graphql_field": sends("{ viewer { shoeSize } }"),
    "graphql_argument": sends("{ viewer { login(upper: true) } }"),
    "graphql_required": sends("{ node { __typename } }"),
    "graphql_selection": sends("{ viewer }"),
    "graphql_variable": sends("query Q($id: ID!) { node(id: $id) { __typename } }"),
    "graphql_pages": sends(THREADS % " {totalCount}", pull=True),
    "graphql_excess": sends(THREADS % "(first: 101) {totalCount}", pull=True),
    "graphql_no_node": sends('{ node(id: "PR_x") { __typename } }'),
    "graphql_no_repository": sends('{ repository(owner: "octo", name: "none") { id } }'),
    "graphql_no_pull": sends(THREADS % "(first: 1) {totalCount}"),
    "graphql_forbidden": _forbidden,
    "auto_merge_off": enables("off"),
    "auto_merge_unprotected": enables("unprotected"),
    "auto_merge_clean": enables("clean"),
    "auto_merge_unstable": enables("unstable"),
    "auto_merge_draft": enables("draft"),
    "auto_merge_closed": enables("closed"),
    "auto_merge_method": enables("method", method="SQUASH"),
    "auto_merge_head": enables(head="1" * 40),
    "auto_merge_not_on": _not_on,
    "draft_closed": _draft_closed,
}
