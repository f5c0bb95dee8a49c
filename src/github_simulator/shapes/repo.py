"""Repositories, labels, protection, releases."""

from __future__ import annotations

from typing import Any

from github_simulator.shapes import people
from github_simulator.things.repository import (
    Label,
    Protection,
    Release,
    Repository,
)
from github_simulator.things.stamps import maybe_stamp, node_id, stamp
from github_simulator.world import World

_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def api_url(world: World, repository: Repository) -> str:
    return f"{world.api_url}/repos/{world.full_name(repository)}"


def web_url(world: World, repository: Repository) -> str:
    return f"{world.server_url}/{world.full_name(repository)}"


def brief(world: World, repository: Repository) -> dict[str, Any]:
    """`minimal-repository`: what stands inside of other things."""
    url = api_url(world, repository)
    return {
        "id": repository.id,
        "node_id": node_id("R", repository.id),
        "name": repository.name,
        "full_name": world.full_name(repository),
        "private": repository.private,
        "owner": people.user(world, world.accounts[repository.owner_id]),
        "html_url": web_url(world, repository),
        "description": repository.description,
        "fork": repository.parent_id is not None,
        "url": url,
        **{name: url + tail for name, tail in _LINKS.items()},
    }


def repository(world: World, repository: Repository) -> dict[str, Any]:
    """`repository`: as in lists, pull requests and webhooks."""
    web = web_url(world, repository)
    host = world.server_url.partition("://")[2]
    full_name = world.full_name(repository)
    forks = sum(other.parent_id == repository.id for other in world.repositories.values())
    open_issues = sum(issue.state == "open" for issue in repository.issues.values())
    return {
        **brief(world, repository),
        "created_at": stamp(repository.created_ms),
        "updated_at": stamp(repository.updated_ms),
        "pushed_at": stamp(repository.pushed_ms),
        "git_url": f"git://{host}/{full_name}.git",
        "ssh_url": f"git@{host}:{full_name}.git",
        "clone_url": f"{web}.git",
        "svn_url": web,
        "homepage": repository.homepage,
        "size": 0,
        "stargazers_count": 0,
        "watchers_count": 0,
        "language": None,
        "has_issues": repository.has_issues,
        "has_projects": repository.has_projects,
        "has_downloads": True,
        "has_wiki": repository.has_wiki,
        "has_pages": False,
        "has_discussions": False,
        "forks_count": forks,
        "mirror_url": None,
        "archived": repository.archived,
        "disabled": False,
        "open_issues_count": open_issues,
        "license": None,
        "allow_forking": True,
        "is_template": False,
        "web_commit_signoff_required": False,
        "topics": [],
        "visibility": "private" if repository.private else "public",
        "forks": forks,
        "open_issues": open_issues,
        "watchers": 0,
        "default_branch": repository.default_branch,
    }


def full(
    world: World, repo: Repository, permissions: dict[str, bool], *, settings: bool
) -> dict[str, Any]:
    """`full-repository`. The merge settings are shown to those who can push only."""
    shape = {
        **repository(world, repo),
        "permissions": permissions,
        "temp_clone_token": "",
        "network_count": 0,
        "subscribers_count": 0,
    }
    if settings:
        shape |= {
            "allow_squash_merge": repo.allow_squash_merge,
            "allow_merge_commit": repo.allow_merge_commit,
            "allow_rebase_merge": repo.allow_rebase_merge,
            "allow_auto_merge": repo.allow_auto_merge,
            "allow_update_branch": repo.allow_update_branch,
            "delete_branch_on_merge": repo.delete_branch_on_merge,
            "use_squash_pr_title_as_default": False,
            "squash_merge_commit_title": "COMMIT_OR_PR_TITLE",
            "squash_merge_commit_message": "COMMIT_MESSAGES",
            "merge_commit_title": "MERGE_MESSAGE",
            "merge_commit_message": "PR_TITLE",
        }
    owner = world.accounts[repo.owner_id]
    if owner.kind == "Organization":
        shape["organization"] = people.user(world, owner)
    if repo.parent_id is not None:
        shape["parent"] = shape["source"] = repository(world, world.repositories[repo.parent_id])
    return shape


def label(world: World, repository: Repository, label: Label) -> dict[str, Any]:
    return {
        "id": label.id,
        "node_id": node_id("LA", label.id),
        "url": f"{api_url(world, repository)}/labels/{label.name.replace(' ', '%20')}",
        "name": label.name,
        "color": label.color,
        "default": label.default,
        "description": label.description,
    }


def protection(
    world: World, repository: Repository, branch: str, rules: Protection
) -> dict[str, Any]:
    url = f"{api_url(world, repository)}/branches/{branch}/protection"
    shape: dict[str, Any] = {"url": url}
    if rules.checks is not None:
        shape["required_status_checks"] = {
            "url": f"{url}/required_status_checks",
            "strict": rules.checks.strict,
            "contexts": list(rules.checks.contexts),
            "contexts_url": f"{url}/required_status_checks/contexts",
            "checks": [
                {"context": context, "app_id": rules.checks.apps.get(context)}
                for context in rules.checks.contexts
            ],
        }
    if rules.reviews is not None:
        shape["required_pull_request_reviews"] = {
            "url": f"{url}/required_pull_request_reviews",
            "dismiss_stale_reviews": rules.reviews.dismiss_stale,
            "require_code_owner_reviews": rules.reviews.code_owners,
            "required_approving_review_count": rules.reviews.count,
            "require_last_push_approval": rules.reviews.last_push,
        }
    shape["required_signatures"] = {"url": f"{url}/required_signatures", "enabled": False}
    shape["enforce_admins"] = {"url": f"{url}/enforce_admins", "enabled": rules.enforce_admins}
    if rules.push_users is not None:
        shape["restrictions"] = _restrictions(world, url, rules)
    for name, value in (
        ("required_linear_history", rules.linear_history),
        ("allow_force_pushes", rules.force_pushes),
        ("allow_deletions", rules.deletions),
        ("block_creations", rules.block_creations),
        ("required_conversation_resolution", rules.conversation_resolution),
        ("lock_branch", rules.lock_branch),
        ("allow_fork_syncing", rules.fork_syncing),
    ):
        shape[name] = {"enabled": value}
    return shape


def _restrictions(world: World, url: str, rules: Protection) -> dict[str, Any]:
    users = [world.account(login) for login in rules.push_users or ()]
    apps = [app for app in world.apps.values() if app.slug in rules.push_apps]
    return {
        "url": f"{url}/restrictions",
        "users_url": f"{url}/restrictions/users",
        "teams_url": f"{url}/restrictions/teams",
        "apps_url": f"{url}/restrictions/apps",
        "users": [people.user(world, user) for user in users if user is not None],
        "teams": [],
        "apps": [people.app(world, app) for app in apps],
    }


def release(world: World, repository: Repository, release: Release) -> dict[str, Any]:
    url = f"{api_url(world, repository)}/releases/{release.id}"
    web = web_url(world, repository)
    tag = release.tag
    archive = f"{api_url(world, repository)}"
    return {
        "url": url,
        "assets_url": f"{url}/assets",
        "upload_url": f"{url}/assets{{?name,label}}",
        "html_url": f"{web}/releases/tag/{tag}",
        "id": release.id,
        "author": people.user(world, world.accounts[release.author_id]),
        "node_id": node_id("RE", release.id),
        "tag_name": tag,
        "target_commitish": release.target,
        "name": release.name,
        "draft": release.draft,
        "immutable": False,
        "prerelease": release.prerelease,
        "created_at": stamp(release.created_ms),
        "updated_at": stamp(release.created_ms),
        "published_at": maybe_stamp(release.published_ms),
        "assets": [],
        "tarball_url": None if release.draft else f"{archive}/tarball/{tag}",
        "zipball_url": None if release.draft else f"{archive}/zipball/{tag}",
        "body": release.body,
    }


def flags(level: str) -> dict[str, bool]:
    """The five flags of a repository, from a role."""
    order = ("read", "triage", "write", "maintain", "admin")
    names = ("pull", "triage", "push", "maintain", "admin")
    have = order.index(level) if level in order else -1
    return {name: have >= at for at, name in enumerate(names)}
