"""`agent.review`: let an agent read a change, and take typed findings out of what it says.

What the agent says is data of a stranger: it has read a stranger's change. Only findings of the
right form and number come through; it cannot approve, and no more than the review is posted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from agent_work_orders.command_loader import prompts, typed_prompt
from agent_work_orders.security import untrusted
from agent_work_orders.tools.agent import Agents
from agent_work_orders.tools.hub_tool import listing
from agent_work_orders.tools.schema import fields, flag, integer, nullable, text
from agent_work_orders.tools.tool import JsonObject, ToolContext
from agent_work_orders.workflow_engine.catalogue import ToolInfo

MAX_FINDINGS = 20
# What an agent is shown of a change: about 30,000 tokens.
CHANGE_LIMIT = 100_000
FORM = f"""\

End your answer with one fenced block of JSON in exactly this form, and write nothing after it:

```json
{{"summary": "what the change does, and your verdict, in a few sentences",
 "findings": [{{"path": "src/file.py", "line": 12, "severity": "error", "category": "bug",
               "message": "what is wrong and why", "suggestion": "code for this line, or null"}}]}}
```

`severity` is error, warning, info or suggestion; `category` is bug, security, practice,
performance or style; `line` is a line of the new file that the change touches. At most
{MAX_FINDINGS} findings, the most important ones; keep the whole block below 7,000 characters. An
empty list is a good answer when nothing is wrong.
"""

_BLOCK = re.compile(r"```json[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    path: Annotated[str, Meta(min_length=1, max_length=500)]
    line: Annotated[int, Meta(ge=1, le=10_000_000)]
    severity: Literal["error", "warning", "info", "suggestion"]
    message: Annotated[str, Meta(min_length=1, max_length=4_000)]
    category: Literal["bug", "security", "practice", "performance", "style"] = "bug"
    suggestion: Annotated[str, Meta(max_length=4_000)] | None = None


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    summary: Annotated[str, Meta(max_length=8_000)]
    findings: Annotated[list[Finding], Meta(max_length=MAX_FINDINGS)]


class AgentReview:
    info = ToolInfo(
        name="agent.review",
        summary="Let the agent review a change and give typed findings",
        inputs=fields(
            ("title", "files"),
            title=text("The change's title"),
            body=text("What its author says about it"),
            files=listing(
                "The changed files, as github.read_pull_request gives them",
                path=text("The file"),
                status=text("What happened to it"),
                patch=text("Its patch"),
            ),
            feedback=text("What was wrong with the last answer: given to the agent as data"),
            model=text("The agent's model; the agent's own default when absent"),
            max_turns=integer("At most so many turns of the model", minimum=1),
        ),
        outputs=fields(
            valid=flag("Whether findings could be read"),
            problem=text("Why not"),
            summary=text("What the agent says about the whole"),
            findings=listing(
                f"At most {MAX_FINDINGS}",
                path=text("The file"),
                line=integer("The line of its new content"),
                severity=text("error, warning, info or suggestion"),
                category=text("bug, security, practice, performance or style"),
                message=text("What is the matter"),
                suggestion=nullable(text("Code to put in the line's place")),
            ),
            errors=integer("How many of them are errors"),
            event=text("For github.review: REQUEST_CHANGES with errors, else COMMENT"),
            conclusion=text("For github.check: failure with errors, else success"),
            session_id=nullable(text("The agent's session")),
            scripted=flag("Whether the agent followed a script instead of a model"),
        ),
        takes_prompts=True,
        timeout_s=300.0,
    )

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    async def __call__(
        self,
        ctx: ToolContext,
        *,
        title: str,
        body: str = "",
        files: list[JsonObject],
        feedback: str = "",
        model: str | None = None,
        max_turns: int | None = None,
    ) -> JsonObject:
        def prompt(tree: Mapping[str, bytes]) -> typed_prompt.TypedPrompt:
            values = {"prTitle": title, "prBody": body, "files": change(files)}
            written = prompts.render("pull_request_review", values, tree) + FORM
            if feedback:
                said = untrusted.block("feedback", feedback)
                written += f"\nYour last answer could not be used:\n\n{said}\n"
            return typed_prompt.TypedPrompt(prompt=written)

        done = await self._agents.work(ctx, prompt, command=None, model=model, max_turns=max_turns)
        session = {"session_id": done["session_id"], "scripted": done["scripted"]}
        return {**read(str(done["text"])), **session}


def read(said: str) -> JsonObject:
    """The findings at the end of an answer. One that is wrong in anything counts as none."""
    blocks = _BLOCK.findall(said)
    content = blocks[-1] if blocks else said.strip()
    try:
        found = msgspec.json.decode(content.encode("utf-8", "replace"), type=Findings)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        return {
            "valid": False,
            "problem": f"The block of JSON cannot be read: {error}",
            "summary": "",
            "findings": [],
            "errors": 0,
            "event": "COMMENT",
            "conclusion": "neutral",
        }
    errors = sum(one.severity == "error" for one in found.findings)
    return {
        "valid": True,
        "problem": "",
        "summary": found.summary.strip() or "Review complete.",
        "findings": msgspec.to_builtins(found.findings),
        "errors": errors,
        "event": "REQUEST_CHANGES" if errors else "COMMENT",
        "conclusion": "failure" if errors else "success",
    }


def change(files: list[JsonObject]) -> str:
    """The files as one text; patches that do not fit are only named."""
    told: list[str] = []
    left = CHANGE_LIMIT
    for file in files:
        patch = str(file.get("patch") or "")
        head = f"{file.get('status', 'changed')}: {file.get('path', '')}"
        whole = f"{head}\n{patch}" if patch and len(patch) <= left else f"{head} (patch left out)"
        left -= len(whole)
        told.append(whole[: max(0, CHANGE_LIMIT)])
        if left <= 0:
            told.append(f"… and {len(files) - len(told)} more files")
            break
    return "\n\n".join(told)
