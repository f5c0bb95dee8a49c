"""The workflows that come with the product: data, and the one function that reads it."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from agent_work_orders.workflow_engine.definition import Definition, parse


@lru_cache(maxsize=1)
def definitions() -> dict[str, Definition]:
    """Every built-in workflow by its name. Read once; the files are part of the package."""
    found = {}
    folder = resources.files(__name__)
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".yaml"):
            definition = parse(entry.read_text(encoding="utf-8"), f"builtin/{entry.name}")
            found[definition.name] = definition
    return found


def find(name: str) -> Definition | None:
    """By name or alias."""
    known = definitions()
    if name in known:
        return known[name]
    return next((found for found in known.values() if name in found.aliases), None)


def source(name: str) -> str:
    """The file of a built-in workflow as written."""
    return definitions()[name].text
