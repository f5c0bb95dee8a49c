"""All tools, put together."""

from __future__ import annotations

from collections.abc import Mapping

from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.security.redaction import Redactor
from agent_work_orders.tools import (
    forge,
    git,
    github_admin,
    github_read,
    github_talk,
    github_verdicts,
    sandbox,
    tests,
)
from agent_work_orders.tools.agent import AgentCommand, AgentPrompt, Agents
from agent_work_orders.tools.agent_review import AgentReview
from agent_work_orders.tools.hub_tool import HubTool
from agent_work_orders.tools.tool import Tool
from agent_work_orders.tools.workspaces import Workspaces
from agent_work_orders.workflow_engine.catalogue import Catalogue, ToolInfo

HUB_TOOLS: tuple[type[HubTool], ...] = (
    github_read.ReadIssue,
    github_read.ReadPullRequest,
    github_talk.Comment,
    github_verdicts.CheckCommit,
    github_verdicts.ReviewPullRequest,
    github_talk.Label,
    github_talk.RestoreLabels,
    github_talk.IssueState,
    github_talk.React,
    github_talk.Status,
    github_admin.Ready,
    github_admin.Merge,
    github_admin.AutoMerge,
    github_admin.Dispatch,
    github_admin.ReleaseNotes,
    github_admin.Protect,
    github_admin.Settings,
    github_admin.ResolveThreads,
)

CATALOGUE: Catalogue = {
    info.name: info
    for info in (
        AgentCommand.info,
        AgentPrompt.info,
        AgentReview.info,
        git.Commit.info,
        git.DeleteBranch.info,
        git.Push.info,
        git.Rebase.info,
        git.Rollback.info,
        sandbox.Exec.info,
        tests.Require.info,
        tests.Run.info,
        forge.OpenPullRequest.info,
        forge.ClosePullRequest.info,
        *(tool.info for tool in HUB_TOOLS),
    )
}

NEEDS: Mapping[str, Mapping[str, str]] = {tool.info.name: tool.needs for tool in HUB_TOOLS}
"""Of each tool the permissions of an App that it needs beyond those of every order."""


def make(
    agents: Agents,
    workspaces: Workspaces,
    mirrors: Mirrors,
    forges: Forges,
    redactor: Redactor,
) -> dict[str, Tool]:
    redact, knows = redactor.text, redactor.knows
    made: list[Tool] = [
        AgentCommand(agents),
        AgentPrompt(agents),
        AgentReview(agents),
        git.Commit(workspaces),
        git.DeleteBranch(mirrors),
        git.Push(workspaces, knows),
        git.Rebase(workspaces, mirrors),
        git.Rollback(workspaces),
        sandbox.Exec(workspaces),
        tests.Require(),
        tests.Run(workspaces),
        forge.OpenPullRequest(workspaces, forges, redact, knows),
        forge.ClosePullRequest(forges, mirrors),
        *(tool(forges, redact) for tool in HUB_TOOLS),
    ]
    return {tool.info.name: tool for tool in made}


def describe(info: ToolInfo) -> str:
    """One line for a list."""
    return f"{info.name}  {info.summary} (risk: {info.risk})"
