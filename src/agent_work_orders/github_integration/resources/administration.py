"""Workflows of the service, protection of branches, release notes, settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_work_orders.errors import NotFound, Permanent
from agent_work_orders.github_integration.forge import Repository
from agent_work_orders.github_integration.resources import wire
from agent_work_orders.github_integration.resources.resource import Resource, segment

# What can be set from a workflow. Not among them: who sees the repository, its name and owner,
# archiving, its default branch.
SETTINGS = frozenset(
    {
        "allow_auto_merge",
        "allow_merge_commit",
        "allow_rebase_merge",
        "allow_squash_merge",
        "allow_update_branch",
        "delete_branch_on_merge",
        "description",
        "has_issues",
        "has_projects",
        "has_wiki",
        "homepage",
        "squash_merge_commit_message",
        "squash_merge_commit_title",
    }
)
# repos/update-branch-protection requires all four; null turns one off.
PROTECTION = (
    "required_status_checks",
    "enforce_admins",
    "required_pull_request_reviews",
    "restrictions",
)


class Administration(Resource):
    async def dispatch(
        self, repository: Repository, workflow: str, ref: str, inputs: dict[str, str]
    ) -> None:
        path = f"actions/workflows/{segment(workflow)}/dispatches"
        body: dict[str, Any] = {"ref": ref}
        if inputs:
            body["inputs"] = inputs
        await self._send("POST", repository, path, body, creates=True)

    async def protection(self, repository: Repository, branch: str) -> dict[str, Any] | None:
        try:
            found = await self._get(repository, f"branches/{segment(branch)}/protection")
        except NotFound:
            return None
        return wire.read(found, dict[str, Any])

    async def protect(self, repository: Repository, branch: str, rules: dict[str, Any]) -> None:
        body = {**dict.fromkeys(PROTECTION), **rules}
        await self._send("PUT", repository, f"branches/{segment(branch)}/protection", body)

    async def release_notes(
        self, repository: Repository, tag: str, previous_tag: str | None = None
    ) -> str:
        body = {"tag_name": tag}
        if previous_tag:
            body["previous_tag_name"] = previous_tag
        made = await self._send("POST", repository, "releases/generate-notes", body, creates=True)
        return wire.written(made, wire.Notes).body

    async def settings(self, repository: Repository, names: Sequence[str]) -> dict[str, Any]:
        _check_names(names)
        found = wire.read(await self._get(repository, ""), dict[str, Any])
        return {name: found.get(name) for name in names}

    async def change_settings(self, repository: Repository, changes: dict[str, Any]) -> None:
        _check_names(list(changes))
        if changes:
            await self._send("PATCH", repository, "", changes)


def _check_names(names: Sequence[str]) -> None:
    refused = sorted(set(names) - SETTINGS)
    if refused:
        raise Permanent(
            "github_setting_refused",
            f"These settings are not changed from here: {', '.join(refused)}",
            hint=f"Change them on GitHub; here can be set: {', '.join(sorted(SETTINGS))}.",
        )
