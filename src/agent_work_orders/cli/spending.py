"""Money and tokens in words. What is not known is said to be unknown, never shown as nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_work_orders.cli.screen import count, first_line

if TYPE_CHECKING:
    from agent_work_orders.cli.client import Json

DENIALS_SHOWN = 5


def cost(usd: float, certainty: str) -> str:
    """Empty when nothing was spent."""
    match certainty:
        case "at_least" if not usd:
            return "unknown (the agent does not tell)"
        case "at_least":
            return f"at least ${usd:.4f} (more was used, at a price that is not known)"
        case "estimated":
            return f"about ${usd:.4f} (in part reckoned from tokens)"
    return f"${usd:.4f}" if usd else ""


def task_lines(task: Json) -> list[str]:
    """What a task's agent used, and what it was not allowed to do."""
    lines = []
    usage = task["usage"]
    if usage is not None and (usage["turns"] or usage["cost_usd"] or _unknown(usage)):
        said = [
            usage["model"],
            count(usage["turns"], "turn"),
            f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out",
            cost(usage["cost_usd"], usage["cost_certainty"]),
        ]
        lines.append(" · ".join(part for part in said if part))
    denials = task["denials"]
    if denials:
        named = ", ".join(first_line(str(one), 80) for one in denials[:DENIALS_SHOWN])
        more = f" and {len(denials) - DENIALS_SHOWN} more" if len(denials) > DENIALS_SHOWN else ""
        lines.append(f"not allowed: {named}{more}")
    return lines


def _unknown(usage: Json) -> bool:
    return bool(usage["cost_certainty"] != "exact")
