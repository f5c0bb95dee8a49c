"""The campaign's result as a page: which points were hit, how often, and what came of it."""

from __future__ import annotations

from pathlib import Path

from crash_driver import Campaign
from crash_points import POINTS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "crash-campaign.md"
NOTE = "<!-- Written by `pytest tests/campaign -m slow`; do not edit. -->"


def page(campaign: Campaign) -> str:
    lines = [
        "# The kill -9 campaign",
        NOTE,
        "",
        "The real process with real git and real agents is killed with SIGKILL at each of these",
        "points and at random times, started again, and must lose and repeat nothing: every",
        "acknowledged order ends, with exactly one branch, one commit for each agent task that",
        "changed files, and one review; no process, workspace, lock or temporary file stays;",
        "`git fsck` and both hash chains are clean.",
        "",
        f"Last run: {len(campaign.wishes)} orders on one repository, {campaign.lives} lives,",
        f"{sum(campaign.hits.values())} kills at points, {campaign.kills} at random times.",
        "",
        "| Killed | Hits |",
        "| --- | --- |",
    ]
    lines += [f"| {point} | {campaign.hits[point]} |" for point in POINTS]
    return "\n".join(lines) + "\n"


def listed(text: str) -> dict[str, int]:
    """The points and hits of a page."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0]: int(row[1]) for row in rows if row[1].strip().isdigit()}
