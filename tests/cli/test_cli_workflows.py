"""`awo workflow schema`: what editors check workflow files with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = """
name: asks
tasks:
  look:
    uses: agent.prompt
    with: {prompt: Look, schema: {type: object}}
  go:
    needs: look
    approval: {message: "Go?", expires: 1h, approvers: [ann, "github:octocat"]}
    uses: sandbox.exec
    with: {argv: [echo, went]}
"""


def test_the_schema_is_printed_as_it_is_published(awo: Any) -> None:
    printed = awo("workflow", "schema")
    assert printed.code == 0 and printed.err == ""
    published = ROOT / "docs" / "reference" / "workflow.schema.json"
    assert printed.out == published.read_text("utf-8")
    jsonschema.Draft202012Validator.check_schema(printed.json)


def test_an_editor_agrees_with_lint(awo: Any) -> None:
    judge = jsonschema.Draft202012Validator(awo("workflow", "schema").json)
    for right, wrong in (
        ("approvers: [ann", "approver: [ann"),
        ('approvers: [ann, "github:octocat"]', "approvers: []"),
        ("needs: look", "needs: {look: 1}"),
        ("expires: 1h", "expires: soon"),
    ):
        assert right in WORKFLOW
        for text, fits in ((WORKFLOW, True), (WORKFLOW.replace(right, wrong), False)):
            assert judge.is_valid(yaml.safe_load(text)) == fits, text
            file = Path(awo.folder) / "asks.yaml"
            file.write_text(text)
            assert (awo("workflow", "lint", str(file)).code == 0) == fits, text
