"""Both local kinds of sandbox keep the contract."""

from __future__ import annotations

import pytest

from agent_work_orders.sandbox_manager.sandbox import SandboxType
from agent_work_orders.testing.conformance.sandbox import SandboxContract


class TestGitWorktree(SandboxContract):
    pass


class TestGitBranch(SandboxContract):
    @pytest.fixture
    def sandbox_type(self) -> SandboxType:
        return "git_branch"


class TestBubblewrap(SandboxContract):
    @pytest.fixture
    def sandbox_type(self) -> SandboxType:
        return "bubblewrap"


@pytest.mark.fault("H11")
@pytest.mark.slow
class TestContainer(SandboxContract):
    @pytest.fixture
    def sandbox_type(self) -> SandboxType:
        return "container"
