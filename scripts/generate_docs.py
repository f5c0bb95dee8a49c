"""Writes the reference pages that are read off the source: `make docs`.

`generate_docs.PAGES` maps each page to the function that makes its text, so that the tidy tests
can compare without writing.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import source_scan

from agent_work_orders.workflow_engine import waiting

NOTE = "<!-- Written by `make docs`; do not edit. -->"


def errors() -> str:
    found, _ = source_scan.failures()
    lines = [
        "# Error codes",
        NOTE,
        "",
        "Every failure has a stable code. Over HTTP it is the `code` of a problem document",
        "(RFC 9457) with the status given here; `—` marks failures of a task, which are part of",
        "the order and never an HTTP answer. `…` stands for what differs from case to case.",
        "",
        "| Code | Kind | HTTP | Message | What to do | Where |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for (code, kind, status), group in groupby(found, key=lambda f: (f.code, f.kind, f.status)):
        rows = list(group)
        message = next((row.message for row in rows if row.message), "")
        hint = next((row.hint for row in rows if row.hint), "")
        where = ", ".join(f"`{place}`" for place in sorted({_short(row.where) for row in rows}))
        lines.append(
            f"| `{code}` | {kind} | {status} | {_cell(message)} | {_cell(hint)} | {where} |"
        )
    return "\n".join(lines) + "\n"


def events() -> str:
    lines = [
        "# Log events",
        NOTE,
        "",
        "Every log line is one JSON object whose `event` is one of these names.",
        "",
        "| Event | Level | Where |",
        "| --- | --- | --- |",
    ]
    for name, group in groupby(source_scan.log_events(), key=lambda event: event.name):
        rows = list(group)
        levels = ", ".join(sorted({row.level for row in rows}))
        where = ", ".join(f"`{place}`" for place in sorted({_short(row.where) for row in rows}))
        lines.append(f"| `{name}` | {levels} | {where} |")
    return "\n".join(lines) + "\n"


def tools() -> str:
    """From the catalogue itself, which is what workflows are compiled against."""
    catalogue = importlib.import_module("agent_work_orders.tools.toolbox").CATALOGUE
    lines = [
        "# Tools",
        NOTE,
        "",
        "What a task of a workflow may use. A tool's *risk* decides whether a person is asked",
        "first; *undo* names the tool that takes it back when an order is rolled back, called",
        "with its outputs. An input without a default is left out when it is not given.",
    ]
    for name, info in sorted(catalogue.items()):
        undo = f"`{info.undo}`" if info.undo else "nothing to take back"
        prompts = "; gets what people say while it works" if info.takes_prompts else ""
        lines += ["", f"## `{name}`", "", f"{info.summary}.", ""]
        lines.append(
            f"Risk {info.risk}; undo: {undo}; at most {info.timeout_s:g} s unless the task says"
            f" otherwise{prompts}."
        )
        for title, schema in (("Input", info.inputs), ("Output", info.outputs)):
            if schema["properties"]:
                lines += ["", f"| {title} | Type | Meaning |", "| --- | --- | --- |"]
                lines += [_property(schema, each) for each in schema["properties"]]
    return "\n".join(lines) + "\n"


def _property(schema: dict[str, Any], name: str) -> str:
    found = schema["properties"][name]
    kind = found["type"] if isinstance(found["type"], str) else " or ".join(found["type"])
    if kind == "array":
        kind = f"list of {found['items']['type']}s"
    if "enum" in found:
        kind = " or ".join(f"`{value}`" for value in found["enum"])
    if name in schema["required"]:
        kind += ", required"
    if "default" in found:
        kind += f", default `{str(found['default']).lower()}`"
    return f"| `{name}` | {kind} | {_cell(found.get('description', ''))} |"


def reliability() -> str:
    covers: dict[str, list[source_scan.Cover]] = {}
    for cover in source_scan.covers():
        covers.setdefault(cover.fault, []).append(cover)
    catalogue = source_scan.faults()
    total = sum(len(group) for group in catalogue.values())
    lines = [
        "# Reliability: faults and abuses, and the tests that cover them",
        NOTE,
        "",
        f"{len(covers)} of {total} rows have a test. A row without one is not built yet, or not",
        "proven: take it as not covered. Tests marked *slow* run in `make test-all` and in CI,",
        "those of `web/e2e` in `make e2e` and in CI.",
    ]
    for group, rows in catalogue.items():
        lines += ["", f"## {group}", "", "| Id | Fault | Tests |", "| --- | --- | --- |"]
        for code, description in rows.items():
            tests = "<br>".join(
                f"`{cover.test.removeprefix('tests/')}`" + (" (slow)" if cover.slow else "")
                for cover in covers.get(code, [])
            )
            lines.append(f"| {code} | {_cell(description)} | {tests or '—'} |")
    return "\n".join(lines + _github_matrix() + _people_matrix()) + "\n"


def _github_matrix() -> list[str]:
    """What the slow tests of the matrix found; they fail when they find something else."""
    kept = source_scan.ROOT / "tests" / "campaign" / "github_matrix.json"
    columns: dict[str, dict[str, str]] = json.loads(kept.read_text("utf-8"))
    rows = next(iter(columns.values()))
    lines = [
        "",
        "## Writes to GitHub",
        "",
        "For each write that the product can send: how many of it the simulator's records have",
        "after the product was killed (SIGKILL) at that moment and started again, or after the",
        "answer was lost in that way. Found by `campaign/test_github_matrix.py` (slow), which",
        "fails when it finds anything else, or when the code has a write that is not here.",
        "Starting a workflow has no key at GitHub: when it is not known whether it was started,",
        "the order stops and says so, and nothing is repeated.",
        "",
        "| Write | " + " | ".join(columns) + " |",
        "| --- |" + " --- |" * len(columns),
    ]
    for row in rows:
        lines.append(f"| {row} | " + " | ".join(found[row] for found in columns.values()) + " |")
    return lines


def _people_matrix() -> list[str]:
    """What the slow tests of this matrix found; they fail when they find something else."""
    kept = source_scan.ROOT / "tests" / "campaign" / "people_matrix.json"
    rows: dict[str, dict[str, str]] = json.loads(kept.read_text("utf-8"))
    moments = next(iter(rows.values()))
    lines = [
        "",
        "## People in the middle",
        "",
        "What a person does to the pull request of an order at work, its branch or its repository",
        "(before there is one: to the issue, or to a branch of that name), by the moment, and how",
        "the order ended. In every case there is one pull request at most, and what the person did",
        "still stands. *Asks* means that the order stopped with a message; what its hint advises",
        "was then done. Found by `campaign/test_people_matrix.py` (slow).",
        "",
        "| Somebody… | " + " | ".join(moments) + " |",
        "| --- |" + " --- |" * len(moments),
    ]
    lines += [f"| {name} | " + " | ".join(ends.values()) + " |" for name, ends in rows.items()]
    return lines


def settings() -> str:
    lines = [
        "# Settings",
        NOTE,
        "",
        "Read once from the environment of the server and the command line; an option on the",
        "command line wins. None is ever read from a repository that an order works on.",
        "",
        "| Variable | Meaning | Default |",
        "| --- | --- | --- |",
    ]
    for variable, meaning, default in _settings():
        shown = f"`{default}`" if default else "none"
        lines.append(f"| `{variable}` | {_cell(meaning)} | {shown} |")
    lines += [
        "",
        "What the command line needs to reach another server, and what programs that we start",
        "find in their environment, is in [environment.md](environment.md).",
    ]
    return "\n".join(lines) + "\n"


def example_environment() -> str:
    """All settings, commented out, with their defaults."""
    lines = ["# Settings with their defaults, all optional. Written by `make docs`; do not edit."]
    for variable, meaning, default in _settings():
        lines += ["", f"# {meaning}", f"#{variable}={default}"]
    return "\n".join(lines) + "\n"


def _settings() -> Iterator[tuple[str, str, str]]:
    """Variable, meaning and default of each."""
    module = importlib.import_module("agent_work_orders.settings")
    # The place of the data directory has no default: it depends on where one stands.
    defaults = module.Settings(home="")
    for field in module.FIELDS:
        default = module.value_of(defaults, field.name)
        yield field.variable, field.meaning, "" if default == () else str(default)


def cli() -> str:
    lines = [
        "# The `awo` command",
        NOTE,
        "",
        "`awo COMMAND --help` says the same.",
    ]
    for path, command in _commands("awo", _root_command()):
        lines += ["", f"## `{path}`", "", " ".join((command.help or "").split())]
        shown = [one for one in command.params if not getattr(one, "hidden", False)]
        if shown:
            lines += ["", "| Option | Meaning |", "| --- | --- |"]
        for one in shown:
            name = ", ".join(one.opts) if one.opts[0].startswith("-") else one.name.upper()
            lines.append(f"| `{name}` | {_cell(getattr(one, 'help', None) or '')} |")
    return "\n".join(lines) + "\n"


def _root_command() -> Any:
    typer_main = importlib.import_module("typer.main")
    app = importlib.import_module("agent_work_orders.cli.main").app
    return typer_main.get_command(app) if hasattr(app, "registered_commands") else app


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """The command and all below it, in the order in which `--help` lists them."""
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = command.context_class(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if not inner.hidden:
            yield from _commands(f"{path} {name}", inner)


_REASONS = re.compile(r"(?<=<!-- made by make docs -->\n).*(?=<!-- to here -->)", re.DOTALL)


def status() -> str:
    """The page as people wrote it, with the table of reasons from the source."""
    page = (source_scan.ROOT / "docs/reference/status.md").read_text(encoding="utf-8")
    rows = [f"| `{reason}` | {waiting.MEANINGS[reason]} |" for reason in waiting.reasons()]
    table = "\n".join(["", "| reason | means |", "| --- | --- |", *rows, "", ""])
    return _REASONS.sub(lambda _: table, page)


def workflow_schema() -> str:
    """What editors check workflow files with."""
    schema = importlib.import_module("agent_work_orders.workflow_engine.schema")
    return json.dumps(schema.workflow_schema(), indent=2, ensure_ascii=False) + "\n"


def waiting_type() -> str:
    """The dashboard's type of the reasons."""
    lines = [
        "/** What an order may wait for. Made by `make docs` from workflow_engine/waiting.py. */",
        "export type WaitingReason =",
        *(f'  | "{reason}"' for reason in waiting.reasons()),
    ]
    return "\n".join(lines) + ";\n"


PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/errors.md": errors,
    "docs/reference/events.md": events,
    "docs/reference/settings.md": settings,
    "docs/reference/status.md": status,
    "docs/reference/tools.md": tools,
    "docs/reference/workflow.schema.json": workflow_schema,
    "docs/reliability.md": reliability,
    ".env.example": example_environment,
    "web/src/lib/waiting-reason.ts": waiting_type,
}
if (source_scan.SOURCE / "cli" / "main.py").is_file():
    PAGES["docs/reference/cli.md"] = cli


def _short(where: str) -> str:
    return where.removeprefix("src/").removeprefix("agent_work_orders/")


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def main() -> None:
    for name, make in PAGES.items():
        page: Path = source_scan.ROOT / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
