"""From what Claude Code printed and how it exited to one `Turn`. Pure.

Success is a valid `result` without error, exit code 0, at least one turn, and no work after it.
An exit code or a message alone never makes a turn good.
"""

from __future__ import annotations

import re

import msgspec

from agent_work_orders.agent_executor.agent import TEXT_LIMIT_CHARS, AgentError, ErrorKind, Turn
from agent_work_orders.agent_executor.claude_stream import SESSION_ID, Facts, Result
from agent_work_orders.agent_executor.lines import decoded
from agent_work_orders.sandbox_manager.sandbox import Execution
from agent_work_orders.workflow_engine.events import Usage

# 128 + SIGINT and 128 + SIGTERM, for a program that turns the signal into an exit code.
_INTERRUPTED_EXITS = {130: 2, 143: 15}
_INTERRUPTED_SIGNALS = {2, 15}

# The CLI's own first backoff is 500-650 ms; a longer first delay is the API's `retry-after`.
_TOLD_DELAY_MS = 1000

# The first version that all of our flags were tried with.
OLDEST_VERSION = "2.1.325"

# Kinds of trouble for which a time to come back may be named.
_WAITED_FOR = ("rate_limit", "overloaded", "server")

_USAGE_LIMIT = re.compile(r"limit reached\|(\d{10})\b")
_BY_TEXT: tuple[tuple[ErrorKind, re.Pattern[str]], ...] = (
    ("overloaded", re.compile(r"\b529\b|overloaded", re.I)),
    ("rate_limit", re.compile(r"\b429\b|rate limit|(?:usage|session|weekly) limit", re.I)),
    ("auth", re.compile(r"authenticate|invalid api key|/login|credit balance", re.I)),
    ("invalid_request", re.compile(r"prompt is too long|request too large", re.I)),
    ("network", re.compile(r"unable to connect|connection|timed out|malformed response", re.I)),
)


def turn(
    facts: Facts,
    execution: Execution,
    *,
    now_ms: int,
    timeout_s: float,
    resumed: str | None = None,
    previous_cost_usd: float | None = None,
) -> Turn:
    """`resumed` is the session that was asked for; only its earlier cost is subtracted."""
    result = facts.result
    error = (
        _unanswered(facts, execution)
        or limit_error(execution, timeout_s)
        or exit_by_signal(execution)
        or _protocol(facts, execution)
    )
    if error is None and result is not None and result.failed:
        error = _api(facts, result, execution, now_ms)
    if error is None and execution.exit_code != 0:
        error = _error("exit_code", f"the agent exited with {execution.exit_code}", execution)
    same = previous_cost_usd if resumed is not None and resumed == facts.session_id else None
    return Turn(
        ok=error is None,
        text=(result.result or "")[:TEXT_LIMIT_CHARS] if result is not None else "",
        session_id=facts.session_id,
        usage=used(facts, same),
        error=error,
        denials=_denials(result),
        saw_end=result is not None and not facts.went_on,
        cumulative_cost_usd=result.total_cost_usd if result is not None else previous_cost_usd,
    )


def used(facts: Facts, previous_cost_usd: float | None) -> Usage:
    """This turn's own usage. What a result does not say is counted from the messages, at list
    prices as far as they are known."""
    result, seen = facts.result, facts.seen
    if result is None or facts.went_on:
        return seen
    cost = result.total_cost_usd
    told = result.usage.tokens
    # The CLI counts a refused request as a turn: a failed one has as many as there were messages.
    turns = seen.turns if result.failed else max(0, result.num_turns)
    if cost is None:
        unpriced = seen.unpriced_turns if seen.turns else turns
        return msgspec.structs.replace(seen, turns=turns, unpriced_turns=unpriced)
    cost = max(0.0, cost)
    if previous_cost_usd is not None and cost >= previous_cost_usd:
        cost -= previous_cost_usd
    return Usage(
        cost_usd=cost,
        estimated_usd=cost if result.guessed else 0.0,
        input_tokens=result.usage.all_input_tokens or seen.input_tokens,
        output_tokens=told.output or seen.output_tokens,
        turns=turns,
        model=seen.model,
    )


def session_is_gone(facts: Facts) -> bool:
    """The CLI refused to resume before doing anything: the session is missing or corrupt."""
    result = facts.result
    return (
        result is not None
        and result.is_error
        and result.num_turns == 0
        and any("No conversation found" in problem for problem in result.errors)
    )


def is_session_id(text: str) -> bool:
    return SESSION_ID.fullmatch(text) is not None


def silent(first_output_s: float) -> AgentError:
    return AgentError(
        kind="no_output", message=f"the agent said nothing within {first_output_s:g} s"
    )


def limit_error(execution: Execution, timeout_s: float) -> AgentError | None:
    """The error of a run that one of our own limits or a cancellation ended."""
    match execution.ended:
        case "timed_out":
            message = f"the agent ran longer than {timeout_s:g} s"
            return AgentError(kind="timeout", message=message)
        case "idle":
            return AgentError(kind="idle", message="the agent was silent for too long")
        case "cancelled":
            return AgentError(kind="interrupted", message="the agent was cancelled")
        case "exited":
            return None


def _unanswered(facts: Facts, execution: Execution) -> AgentError | None:
    """Our time was up while the CLI waited for a model that failed: the model's trouble."""
    if execution.ended not in ("timed_out", "idle") or not facts.retrying:
        return None
    status = facts.retry_status
    kind = "network" if status is None else _by_status(status)
    return AgentError(kind=kind, message=f"the model's API failed ({status or 'no answer'})")


def exit_by_signal(execution: Execution) -> AgentError | None:
    """Whoever sent it was not us, whose limits come first: the kernel without memory, a person. A
    shell says it of its child by an exit code."""
    code = execution.exit_code
    signal = execution.signal
    if signal is None and code is not None and (code in _INTERRUPTED_EXITS or code in (137, 139)):
        signal = code - 128
    if signal is None:
        return None
    if signal in _INTERRUPTED_SIGNALS:
        return AgentError(
            kind="interrupted",
            message=f"the agent was stopped by signal {signal}",
            signal=signal,
            exit_code=code,
        )
    return AgentError(
        kind="crashed", message=f"the agent died of signal {signal}", signal=signal, exit_code=code
    )


def _protocol(facts: Facts, execution: Execution) -> AgentError | None:
    result = facts.result
    if result is None:
        if facts.invalid_results:
            return _error("protocol", "the agent's result could not be read", execution)
        if execution.exit_code == 0 and facts.lines == 0:
            return _error("no_output", "the agent ended without saying anything", execution)
        last = decoded(execution.stderr[-500:])[0].strip()
        if "unknown option" in last:
            message = f"this Claude Code is too old (at least {OLDEST_VERSION} is needed): {last}"
            return _error("invalid_request", message, execution)
        message = "the agent ended without a result" + (f": {last}" if last else "")
        return _error("crashed", message, execution)
    if facts.went_on:
        return _error("protocol", "the agent went on after its result and never ended", execution)
    if not result.failed and result.num_turns <= 0:
        return _error("protocol", "the agent ended without doing a turn", execution)
    return None


def _api(facts: Facts, result: Result, execution: Execution, now_ms: int) -> AgentError:
    message = result.result or "; ".join(result.errors) or "the agent failed"
    kind = _kind(facts, result, message)
    retry_at = _retry_at(facts, message, now_ms) if kind in _WAITED_FOR else None
    return AgentError(
        kind=kind, message=message[:2000], retry_at_ms=retry_at, exit_code=execution.exit_code
    )


def _kind(facts: Facts, result: Result, message: str) -> ErrorKind:
    if result.subtype == "error_max_turns":
        return "max_turns"
    if result.subtype == "error_max_budget_usd":
        return "budget"
    if (result.terminal_reason or "").startswith("aborted"):
        return "interrupted"
    if result.api_error_status is not None:
        return _by_status(result.api_error_status)
    for kind, pattern in _BY_TEXT:
        if pattern.search(message):
            return kind
    if facts.retry_status is not None:
        return _by_status(facts.retry_status)
    return "crashed"


def _by_status(status: int) -> ErrorKind:
    match status:
        case 401 | 402 | 403:
            return "auth"
        case 429:
            return "rate_limit"
        case 529:
            return "overloaded"
        case _ if status >= 500:
            return "server"
        case _:
            return "invalid_request"


def _retry_at(facts: Facts, message: str, now_ms: int) -> int | None:
    if (found := _USAGE_LIMIT.search(message)) is not None:
        return int(found.group(1)) * 1000
    if facts.limit_resets_at_s is not None:
        return int(facts.limit_resets_at_s * 1000)
    if facts.retry_delay_ms is not None and facts.retry_delay_ms >= _TOLD_DELAY_MS:
        return now_ms + int(facts.retry_delay_ms)
    return None


def _denials(result: Result | None) -> tuple[str, ...]:
    if result is None:
        return ()
    named = []
    for denial in result.permission_denials:
        about = denial.tool_input.get("command", denial.tool_input.get("file_path", ""))
        named.append(f"{denial.tool_name[:100]}({str(about)[:200]})")
    return tuple(named)


def _error(kind: ErrorKind, message: str, execution: Execution) -> AgentError:
    return AgentError(kind=kind, message=message, exit_code=execution.exit_code)
