"""For every rule about requests, people, repositories and lookups one request that it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from town import Town

from github_simulator.call import Answer, Route
from github_simulator.changes import founding
from github_simulator.routes import ROUTES, Router

Example = Callable[[Town], Answer]
NO_SHA = "1" * 40
PROTECTION: dict[str, Any] = {
    "required_status_checks": None,
    "enforce_admins": True,
    "required_pull_request_reviews": None,
    "restrictions": None,
}


def asks(who: str, method: str, path: str, body: Any = None, **more: Any) -> Example:
    return lambda town: town.ask(who, method, path, body, **more)


def _app_only(town: Town) -> Answer:
    route = Route(
        method="GET",
        template="/app",
        operation="apps/get-authenticated",
        by="app",
        handler=lambda call: Answer(),
    )
    router = Router((*ROUTES, route))
    return router.answer(town.world, town.actor("ann"), "GET", "/app")


def _suspended(town: Town) -> Answer:
    actor = town.actor("awo")
    installation = town.world.installations[actor.installation_id or 0]
    founding.suspend(town.world, installation, town.account("bob"))
    return town.ask(actor, "GET", "~")


def _narrow_token(town: Town) -> Answer:
    actor = msgspec.structs.replace(town.actor("ann"), permissions={"issues": "read"})
    return town.ask(actor, "POST", "~/issues", {"title": "x"})


def _moved(town: Town) -> Answer:
    founding.rename(town.world, town.hello, "hallo", town.account("bob"))
    return town.ask("ann", "GET", "/repos/octo/hello/issues")


def _moved_write(town: Town) -> Answer:
    founding.rename(town.world, town.hello, "hallo", town.account("bob"))
    return town.ask("ann", "POST", "/repos/octo/hello/issues", {"title": "x"})


def _archived(town: Town) -> Answer:
    town.hello.archived = True
    return town.ask("ann", "POST", "~/issues", {"title": "x"})


def _reaction(town: Town) -> Answer:
    number = town.do("ann", "POST", "~/issues", {"title": "x"})["number"]
    return town.ask("ann", "DELETE", f"~/issues/{number}/reactions/7")


def _label_not_there(town: Town) -> Answer:
    number = town.do("ann", "POST", "~/issues", {"title": "x"})["number"]
    return town.ask("ann", "DELETE", f"~/issues/{number}/labels/bug")


def _of_pull(method: str, tail: str, body: Any = None, who: str = "awo") -> Example:
    return lambda town: town.ask(who, method, f"~/pulls/{town.pull()}{tail}", body)


def _not_forward(town: Town) -> Answer:
    town.commit("one", {"a": "1"})
    other = town.commit("two", {"a": "2"})
    return town.ask("ann", "PATCH", "~/git/refs/heads/one", {"sha": other})


def _main(town: Town) -> str:
    return town.world.git(town.hello).branch("main") or ""


def _protected_ref(town: Town) -> Answer:
    reviews = {"required_pull_request_reviews": {}}
    town.do("bob", "PUT", "~/branches/main/protection", {**PROTECTION, **reviews})
    sha = town.commit("one", {"a": "1"})
    return town.ask("ann", "PATCH", "~/git/refs/heads/main", {"sha": sha})


def _dispatch(name: str, **body: Any) -> Example:
    return asks("awo", "POST", f"~/actions/workflows/{name}/dispatches", body)


def _tag_exists(town: Town) -> Answer:
    town.do("awo", "POST", "~/releases", {"tag_name": "v1"})
    return town.ask("awo", "POST", "~/releases", {"tag_name": "v1"})


NO_METHODS = {
    "allow_merge_commit": False,
    "allow_squash_merge": False,
    "allow_rebase_merge": False,
}

EXAMPLES: dict[str, Example] = {
    "no_such_route": asks("ann", "GET", "/no/such/place"),
    "not_json": asks("ann", "POST", "~/issues", raw=b'{"title": '),
    "not_an_object": asks("ann", "POST", "~/issues", ["title"]),
    "field_missing": asks("ann", "POST", "~/issues", {"body": "x"}),
    "field_type": asks("ann", "POST", "~/issues", {"title": "x", "body": 5}),
    "field_choice": lambda town: town.ask(
        "ann",
        "PATCH",
        f"~/issues/{town.do('ann', 'POST', '~/issues', {'title': 'x'})['number']}",
        {"state": "opened"},
    ),
    "query_choice": asks("ann", "GET", "~/pulls", query={"state": "merged"}),
    "sign_in": asks("nobody", "POST", "~/issues", {"title": "x"}),
    "app_token_only": _app_only,
    "not_with_app_token": asks("app:awo", "GET", "~"),
    "installation_only": asks("ann", "GET", "/installation/repositories"),
    "person_only": asks("awo", "GET", "/user"),
    "checks_by_apps": lambda town: town.ask(
        "ann", "POST", "~/check-runs", {"name": "x", "head_sha": _main(town)}
    ),
    "suspended": _suspended,
    "permission": asks("weak", "POST", "~/issues", {"title": "x"}),
    "token_permission": _narrow_token,
    "role_push": asks("carl", "POST", "~/labels", {"name": "x"}),
    "role_admin": asks("ann", "PATCH", "~", {"description": "x"}),
    "hidden": asks("eve", "GET", "/repos/octo/secret"),
    "query_since": asks("ann", "GET", "~/issues", query={"since": "yesterday"}),
    "moved": _moved,
    "moved_write": _moved_write,
    "archived": _archived,
    "no_such_repository": asks("ann", "GET", "/repos/octo/none"),
    "account_missing": asks("ann", "GET", "/users/zoe"),
    "branch_missing": asks("ann", "GET", "~/branches/none"),
    "unprotected": asks("bob", "GET", "~/branches/main/protection"),
    "file_missing": asks("ann", "GET", "~/contents/none.txt"),
    "ref_unknown": asks("ann", "GET", "~/contents/README.md", query={"ref": "none"}),
    "commit_missing": asks("ann", "GET", f"~/commits/{NO_SHA}"),
    "compare_missing": asks("ann", "GET", "~/compare/main...none"),
    "ref_missing": asks("ann", "GET", "~/git/ref/heads/none"),
    "issue_missing": asks("ann", "GET", "~/issues/7"),
    "comment_missing": asks("ann", "GET", "~/issues/comments/7"),
    "label_missing": asks("ann", "GET", "~/labels/none"),
    "label_not_there": _label_not_there,
    "reaction_missing": _reaction,
    "pull_missing": lambda town: town.ask(
        "ann",
        "GET",
        f"~/pulls/{town.do('ann', 'POST', '~/issues', {'title': 'no pull'})['number']}",
    ),
    "not_merged": _of_pull("GET", "/merge"),
    "review_missing": _of_pull("GET", "/reviews/7"),
    "review_comment_missing": asks("ann", "GET", "~/pulls/comments/7"),
    "check_missing": asks("awo", "GET", "~/check-runs/7"),
    "suite_missing": asks("awo", "GET", "~/check-suites/7"),
    "workflow_missing": _dispatch("none.yml", ref="main"),
    "release_missing": asks("ann", "GET", "~/releases/tags/v9"),
    "name_taken": asks("bob", "PATCH", "~", {"name": "secret"}),
    "default_branch_missing": asks("bob", "PATCH", "~", {"default_branch": "none"}),
    "no_merge_method": asks("bob", "PATCH", "~", NO_METHODS),
    "ref_malformed": lambda town: town.ask(
        "ann", "POST", "~/git/refs", {"ref": "heads/x", "sha": _main(town)}
    ),
    "ref_exists": lambda town: town.ask(
        "ann", "POST", "~/git/refs", {"ref": "refs/heads/main", "sha": _main(town)}
    ),
    "ref_object": asks("ann", "POST", "~/git/refs", {"ref": "refs/heads/x", "sha": NO_SHA}),
    "ref_gone": asks("ann", "DELETE", "~/git/refs/heads/none"),
    "not_fast_forward": _not_forward,
    "protected_ref": _protected_ref,
    "dispatch_trigger": _dispatch("push.yml", ref="main"),
    "dispatch_ref": _dispatch("build.yml", ref="none", inputs={"size": "1"}),
    "dispatch_inputs": _dispatch("build.yml", ref="main", inputs={"size": "1", "shape": "o"}),
    "dispatch_required": _dispatch("build.yml", ref="main"),
    "tag_exists": _tag_exists,
    "tag_invalid": asks("awo", "POST", "~/releases", {"tag_name": "a..b"}),
    "release_target": asks(
        "awo", "POST", "~/releases", {"tag_name": "v1", "target_commitish": "none"}
    ),
}
