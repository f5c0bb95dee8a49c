"""The types of sandbox, listed once. Settings and the command line read it: keep it light."""

from __future__ import annotations

from typing import Literal, get_args

SandboxType = Literal["git_branch", "git_worktree", "bubblewrap", "container"]
SANDBOX_TYPES: tuple[SandboxType, ...] = get_args(SandboxType)
PLANNED_TYPES = ("e2b", "dagger", "kubernetes")
"""Named to whoever asks for one; there is no code for them yet."""
