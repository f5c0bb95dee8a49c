"""From the words of a command line to an order's request. Refuses what cannot be meant."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from agent_work_orders.cli.client import Json, Looker
from agent_work_orders.cli.outcome import Told

SCRIPT_LIMIT_BYTES = 1_048_576
STDIN_LIMIT_CHARS = 1_048_576


class TypedOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody typed."""

    prompt: str | None = None
    repo: str | None = None
    workflow: str = "agent_workflow_plan_build_test"
    sandbox: str | None = None
    agent: str | None = None
    agent_command: str | None = None
    agent_script: Path | None = None
    issue: str | None = None
    base: str | None = None
    inputs: list[str] = []
    priority: str = "medium"
    timeout_s: float | None = None
    model: str | None = None
    title: str | None = None


def of(asked: TypedOrder) -> Json:
    """The request without its inputs, which only the workflow can read."""
    order: Json = {
        "repository_url": repository(asked.repo),
        "sandbox_type": asked.sandbox,
        "github_issue_number": asked.issue,
        "initial_prompt": prompt(asked.prompt),
        "title": asked.title,
        "base_branch": asked.base,
        "priority": asked.priority,
        "agent": agent(asked),
        "agent_timeout_s": asked.timeout_s,
        "inputs": {},
    }
    file = workflow_file(asked.workflow)
    if file is None:
        order["workflow_type"] = asked.workflow
    else:
        order["workflow_source"] = read_workflow(file)
    return order


async def with_inputs(client: Looker, order: Json, given: list[str], name: str) -> Json:
    """`k=v` read by the types that the workflow declares."""
    pairs = dict(_pair(text, "--input") for text in given)
    if not pairs:
        return order
    from agent_work_orders.workflow_engine.inputs import from_text
    from agent_work_orders.workflow_engine.plan import Input

    source = order.get("workflow_source")
    found = await (client.workflow(name) if source is None else client.lint(source, name))
    declared = msgspec.convert(found["inputs"], dict[str, Input])
    return {**order, "inputs": from_text(declared, pairs)}


def repository(given: str | None) -> str:
    """The repository as the product takes it: relative paths are this shell's."""
    if given is None:
        return _here()
    looks_like_path = given.startswith(("./", "../", "~/")) or given in (".", "..", "~")
    if looks_like_path or (":" not in given and not given.startswith("-") and given):
        return os.path.abspath(os.path.expanduser(given))
    return given


def _here() -> str:
    """The git repository around the current directory."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--show-toplevel"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        done = None
    if done is None or done.returncode != 0 or not done.stdout.strip():
        raise Told(
            "repository_not_given",
            "The current directory is not in a git repository",
            hint="Give one with --repo URL_OR_PATH",
            field="--repo",
        )
    return done.stdout.strip()


def prompt(given: str | None) -> str | None:
    """The text itself, or stdin for `-`."""
    if given != "-":
        return given
    text = sys.stdin.read(STDIN_LIMIT_CHARS + 1)
    if len(text) > STDIN_LIMIT_CHARS:
        raise Told("text_too_long", "The prompt from stdin is longer than 1 MiB", field="PROMPT")
    return text


def folder(given: Path, flag: str) -> Path:
    """A folder to work in, made if it is not there."""
    place = given.expanduser().absolute()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Told(
            "folder_unusable",
            f"{given} cannot be used as a folder ({error.strerror})",
            hint="Name a folder that exists, or can be made",
            field=flag,
        ) from None
    return place


def agent(asked: TypedOrder) -> dict[str, Any] | None:
    name = asked.agent
    if name is None:
        if asked.agent_command is not None:
            name = "command"
        elif asked.agent_script is not None:
            name = "scripted"
        elif asked.model is None:
            return None
        else:
            name = "claude_code"
    chosen: dict[str, Any] = {"name": name}
    if asked.agent_command is not None:
        chosen["argv"] = argv(asked.agent_command)
    if asked.agent_script is not None:
        chosen["script"] = read_text(asked.agent_script, "--agent-script")
    if asked.model is not None:
        chosen["model"] = asked.model
    if name == "command" and "argv" not in chosen:
        raise _needs("command", "--agent-command", "--agent-command 'my-agent {prompt_file}'")
    if name == "scripted" and "script" not in chosen:
        raise _needs("scripted", "--agent-script", "--agent-script steps.yaml")
    return chosen


def argv(text: str) -> list[str]:
    """Words as a shell would split them; a program with a relative path is this shell's."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Told(
            "agent_command_invalid",
            f"The agent's command cannot be read: {error}",
            hint="Close the quotes",
            field="--agent-command",
        ) from None
    if words and "/" in words[0] and "{" not in words[0]:
        words[0] = os.path.abspath(os.path.expanduser(words[0]))
    return words


def workflow_file(name: str) -> Path | None:
    """A workflow is a file when it is written like one."""
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return Path(name).expanduser()
    return None


def read_workflow(file: Path) -> str:
    return read_text(file, "--workflow")


def read_text(file: Path, flag: str) -> str:
    try:
        with file.open("rb") as handle:
            content = handle.read(SCRIPT_LIMIT_BYTES + 1)
        if len(content) > SCRIPT_LIMIT_BYTES:
            raise Told("file_too_large", f"{file} is larger than 1 MiB", field=flag)
        return content.decode()
    except OSError as error:
        raise Told(
            "file_unreadable", f"{file} cannot be read ({error.strerror})", field=flag
        ) from None
    except UnicodeDecodeError:
        raise Told("file_unreadable", f"{file} is not UTF-8 text", field=flag) from None


def outputs(given: list[str]) -> Json:
    """`k=v` pairs whose values are JSON where they can be, else text."""
    found: Json = {}
    for text in given:
        name, value = _pair(text, "--output")
        try:
            found[name] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            found[name] = value
    return found


def _pair(text: str, flag: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise Told(
            "pair_invalid",
            f"{text!r} is not of the form name=value",
            hint="For example service=api",
            field=flag,
        )
    return name.strip(), value


def _needs(name: str, flag: str, example: str) -> Told:
    return Told(
        "agent_option_missing",
        f"The agent {name} needs {flag}",
        hint=f"For example {example}",
        field=flag,
    )
