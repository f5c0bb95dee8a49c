"""Hardened git: URL grammar, runner, mirrors, reading, push and rebase, all on host-owned data."""
