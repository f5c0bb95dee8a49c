"""Docs are tested: what the source has, the docs mention; what the docs link to, exists."""

from __future__ import annotations

import re
from pathlib import Path

import generate_docs
import pytest
import source_scan

ROOT = source_scan.ROOT
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")
REQUIRED = [
    "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "AGENTS.md",
    "LICENSE", "docs/glossary.md", "docs/spec-map.md", ".env.example",
]  # fmt: skip


def prose() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


@pytest.mark.parametrize("name", REQUIRED)
def test_the_page_exists(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("name", generate_docs.PAGES)
def test_generated_pages_are_current(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == generate_docs.PAGES[name](), "run make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "AGENTS.md", "CONTRIBUTING.md"])
def test_modules_named_in_prose_exist(name: str) -> None:
    """A path in backquotes is one of the package, or of the repository."""
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+(?:/|\.py))`", text)
    assert named
    starts = (source_scan.SOURCE, ROOT / "src" / "github_simulator", ROOT)
    missing = [n for n in named if not any((start / n).exists() for start in starts)]
    assert missing == []


def test_the_readme_shows_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


def test_every_make_target_is_mentioned() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE)
    text = prose()
    assert len(targets) > 10
    assert [name for name in targets if f"make {name}" not in text] == []
    assert {"demo", "up", "test", "test-all", "check", "bench", "bench-check"} <= set(targets)


def test_every_setting_is_mentioned() -> None:
    text = prose() + (ROOT / ".env.example").read_text(encoding="utf-8")
    missing = {name: at for name, at in source_scan.settings().items() if name not in text}
    assert missing == {}


def test_every_decision_has_its_reasons() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert decisions
    for path in decisions:
        text = path.read_text(encoding="utf-8")
        missing = [
            part for part in ("## Context", "## Decision", "## Consequences") if part not in text
        ]
        assert missing == [], path.name
