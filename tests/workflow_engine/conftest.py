"""A catalogue of tools as workflow authors see them, without the tools."""

from __future__ import annotations

from typing import Any

import pytest

from agent_work_orders.workflow_engine.catalogue import Catalogue, ToolInfo

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
INTEGER = {"type": "integer"}
TEXTS = {"type": "array", "items": TEXT}


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def _tool(
    name: str, inputs: dict[str, Any], outputs: dict[str, Any], **more: Any
) -> tuple[str, ToolInfo]:
    return name, ToolInfo(name=name, summary=name, inputs=inputs, outputs=outputs, **more)


_AGENT_OPTIONS = {"feedback": TEXT, "model": TEXT, "max_turns": INTEGER}
_AGENT_OUTPUTS = _object(
    text=TEXT,
    session_id=TEXT,
    commit={"type": ["string", "null"]},
    changed=FLAG,
    files_changed=INTEGER,
    no_changes=FLAG,
)


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return dict(
        [
            _tool(
                "agent.command",
                _object(("command",), command=TEXT, arguments=TEXTS, **_AGENT_OPTIONS),
                _AGENT_OUTPUTS,
                takes_prompts=True,
            ),
            _tool(
                "agent.prompt",
                _object(("prompt",), prompt=TEXT, **_AGENT_OPTIONS),
                _AGENT_OUTPUTS,
                takes_prompts=True,
            ),
            _tool(
                "tests.run",
                _object(
                    command=TEXTS,
                    at={"type": "string", "enum": ["head", "base"], "default": "head"},
                    require=FLAG,
                    junit=TEXT,
                    baseline={"type": ["object", "null"]},
                    tests_may_change=FLAG,
                ),
                _object(
                    passed=FLAG,
                    found=FLAG,
                    verdict=TEXT,
                    exit_code={"type": ["integer", "null"]},
                    total=INTEGER,
                    failed=INTEGER,
                    skipped=INTEGER,
                    summary=TEXT,
                    report=TEXT,
                ),
                timeout_s=1_800.0,
            ),
            _tool(
                "tests.require",
                _object(("tests",), tests={"type": ["object", "null"]}, unverified=FLAG),
                _object(passed=FLAG, summary=TEXT),
            ),
            _tool(
                "sandbox.exec",
                _object(("argv",), argv=TEXTS, env={"type": "object"}, check=FLAG),
                _object(exit_code=INTEGER, stdout=TEXT, stderr=TEXT, success=FLAG),
            ),
            _tool("git.push", _object(), _object(branch=TEXT, head=TEXT), undo="git.delete_branch"),
            _tool("git.delete_branch", _object(("branch",), branch=TEXT, head=TEXT), _object()),
            _tool(
                "forge.open_pull_request",
                _object(
                    title=TEXT,
                    body=TEXT,
                    draft=FLAG,
                    needs_draft=FLAG,
                    tests={"type": ["object", "null"]},
                ),
                _object(number=INTEGER, url=TEXT, branch=TEXT, head=TEXT, draft=FLAG),
                risk="medium",
                undo="forge.close_pull_request",
            ),
            _tool("forge.close_pull_request", _object(("number",), number=INTEGER), _object()),
            _tool("deploy.release", _object(service=TEXT), _object(url=TEXT), risk="high"),
        ]
    )
