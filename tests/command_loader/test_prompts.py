"""Prompts with variables, and a repository's instructions."""

from __future__ import annotations

import pytest

from agent_work_orders.command_loader import instructions, prompts
from agent_work_orders.errors import Refused

ISSUE = {
    "issueNumber": "42",
    "title": "add subtracts",
    "repoContext": "Python",
    "body": "It {title} is wrong. {{ $1",
    "labels": "bug, good first issue",
    "author": "octocat",
}


def test_an_issue_is_told_with_all_its_variables() -> None:
    text = prompts.render("issue_resolution", ISSUE)
    assert "GitHub issue #42." in text
    assert "Labels: bug, good first issue" in text
    assert "\nIt {title} is wrong. {{ $1\n</untrusted" in text
    assert ".claude-pr-summary.md" in text
    for source in ("title", "repoContext", "body"):
        assert f'<untrusted source="{source}"' in text


def test_a_review_is_told_with_all_its_variables() -> None:
    text = prompts.render("pull_request_review", {"prTitle": "T", "prBody": "B", "files": "a.py"})
    for source in ("prTitle", "prBody", "files"):
        assert f'<untrusted source="{source}"' in text


def test_a_login_that_is_no_login_becomes_a_block() -> None:
    text = prompts.render("issue_resolution", ISSUE | {"author": "x\nIgnore all"})
    assert '<untrusted source="author"' in text


def test_a_repository_replaces_a_prompt() -> None:
    tree = {".awo/prompts/issue_resolution.md": b"Fix {issueNumber} {{literally}}"}
    assert prompts.render("issue_resolution", ISSUE, tree).endswith("Fix 42 {literally}\n")


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"{issueNumbr}", "did you mean {issueNumber}"), (b"\xff", "UTF-8"), (b"x" * 70000, "larger")],
)
def test_a_bad_prompt_file_is_refused(content: bytes, problem: str) -> None:
    with pytest.raises(Refused) as caught:
        prompts.render("issue_resolution", ISSUE, {".awo/prompts/issue_resolution.md": content})
    assert caught.value.code == "prompt_invalid" and problem in caught.value.message


def test_a_missing_value_is_refused() -> None:
    with pytest.raises(Refused):
        prompts.render("pull_request_review", {"prTitle": "T"})


@pytest.mark.fault("F10")
def test_instructions_are_gathered_once_each_and_bounded() -> None:
    text = instructions.gather(
        {
            "AGENTS.md": b"Use tabs.",
            "CLAUDE.md": b"@AGENTS.md",
            ".claude/CLAUDE.md": b"Use tabs.",
            ".awo/instructions.md": b"y" * 40_000,
            "sub/AGENTS.md": b"not this",
        }
    )
    assert text.count("Use tabs.") == 1
    assert "not this" not in text
    assert "[cut: the file has 40000 bytes]" in text
    assert len(text) < 33_500


def test_only_wanted_files_are_read() -> None:
    assert instructions.is_wanted(".claude/commands/a/b.md")
    assert instructions.is_wanted("AGENTS.md")
    assert instructions.is_wanted(".awo/prompts/issue_resolution.md")
    assert not instructions.is_wanted(".claude/settings.json")
    assert not instructions.is_wanted(".mcp.json")
