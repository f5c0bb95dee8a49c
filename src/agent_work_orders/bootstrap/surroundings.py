"""What lies around the orders of a data directory: mirrors, sandboxes, agents, forges, transcripts.
Engine and use cases share it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agent_work_orders.agent_executor import claude_code
from agent_work_orders.agent_executor.claude_sign_in import SignIn
from agent_work_orders.agent_executor.registry import Registry
from agent_work_orders.clock import Clock
from agent_work_orders.engines.engine import Runs
from agent_work_orders.engines.perform import Log
from agent_work_orders.github_integration.forges import Forges
from agent_work_orders.github_integration.local_forge import LocalForge
from agent_work_orders.repositories.git import Git
from agent_work_orders.repositories.mirrors import Mirrors
from agent_work_orders.sandbox_manager.container.containers import ContainerOptions
from agent_work_orders.sandbox_manager.factory import SandboxFactory
from agent_work_orders.sandbox_manager.local.agent_user import agent_users
from agent_work_orders.sandbox_manager.local.processes import home_tag
from agent_work_orders.settings import Settings
from agent_work_orders.state_manager.store import Store
from agent_work_orders.tools import toolbox
from agent_work_orders.work_orders.backlog import Backlog
from agent_work_orders.work_orders.cache import Cache
from agent_work_orders.work_orders.context import Context, Policy
from agent_work_orders.work_orders.transcripts import Transcripts

if TYPE_CHECKING:
    from agent_work_orders.github_integration.connection import Connection


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    mirrors: Mirrors
    sandboxes: SandboxFactory
    agents: Registry
    reviews: LocalForge
    forges: Forges
    transcripts: Transcripts

    def context(
        self,
        settings: Settings,
        store: Store,
        runs: Runs,
        clock: Clock,
        log: Log,
        redact: Callable[[str], str],
    ) -> Context:
        return Context(
            store=store,
            runs=runs,
            mirrors=self.mirrors,
            sandboxes=self.sandboxes,
            agents=self.agents,
            reviews=self.reviews,
            forges=self.forges,
            transcripts=self.transcripts,
            catalogue=toolbox.CATALOGUE,
            cache=Cache(),
            backlog=Backlog(),
            clock=clock,
            home=settings.home,
            log=log,
            redact=redact,
            policy=_policy(settings),
        )


def surroundings(
    settings: Settings, home: Path, store: Store, clock: Clock, github: Connection | None = None
) -> Surroundings:
    """`home` is the settings' own, or an empty stand-in for one that does not exist yet."""
    logins = None if github is None else github.logins
    git = Git(tag=home_tag(home), logins=logins, outbound=settings.outbound)
    mirrors = Mirrors(home / "mirrors", git, branches=store.branches)
    users = agent_users(settings.agents.agent_uid)
    reviews = LocalForge(home / "reviews")
    hub = None if github is None else github.forge
    return Surroundings(
        mirrors=mirrors,
        sandboxes=SandboxFactory(
            home, mirrors, clock, users=users, containers=containers(settings)
        ),
        agents=Registry(clock, claude=claude(settings), script=_script(settings)),
        reviews=reviews,
        forges=Forges(reviews, hub, settings.github.server_url),
        transcripts=Transcripts(home / "transcripts"),
    )


def _policy(settings: Settings) -> Policy:
    return Policy(
        default_sandbox=settings.orders.default_sandbox,
        default_agent=settings.agents.default_agent,
        git_origins=frozenset(settings.orders.git_origins),
        four_eyes=settings.orders.four_eyes,
        workflow_folders=_workflow_folders(settings),
        public_url=settings.server.public_url,
    )


def containers(settings: Settings) -> ContainerOptions:
    given = settings.containers
    return ContainerOptions(sockets=given.sockets, image=given.image, archive=given.rootfs)


def _workflow_folders(settings: Settings) -> tuple[Path, ...]:
    if settings.repository is None or settings.repository / ".awo" == settings.home:
        return ()
    return (settings.repository / ".awo" / "workflows",)


def _script(settings: Settings) -> str:
    return (
        Path(settings.agents.agent_script).read_text("utf-8")
        if settings.agents.agent_script
        else ""
    )


def claude(settings: Settings) -> claude_code.Settings:
    return claude_code.Settings(
        binary=settings.agents.claude_binary or None,
        sign_in=SignIn(
            api_key=settings.agents.anthropic_api_key,
            base_url=settings.agents.anthropic_base_url,
            **msgspec.structs.asdict(settings.sign_in),
        ),
        mcp_config=settings.agents.mcp_config,
        outbound=settings.outbound,
        other_user=os.geteuid() == 0,
    )
