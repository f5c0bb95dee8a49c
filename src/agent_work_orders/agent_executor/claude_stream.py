"""Claude Code's stream-json: chunks of bytes in, transcript entries and facts out. Pure.

Rules: unknown types are ignored, lines that are not JSON are kept as noise, and the last valid
`result` counts. Nothing here decides whether the turn succeeded; that is `claude_outcome.py`.
Known ugliness: key order and extra fields vary between versions, a result with an API error calls
itself `subtype: success`, and `output_tokens` of assistant messages is a placeholder of 1 (the
stream's own events, which we ask for, have the true number).
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from agent_work_orders.agent_executor import lenient
from agent_work_orders.agent_executor.agent import Entry
from agent_work_orders.agent_executor.claude_meter import Meter
from agent_work_orders.agent_executor.lines import Line, Lines, decoded
from agent_work_orders.agent_executor.prices import Tokens
from agent_work_orders.workflow_engine.events import Usage

SESSION_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

# The pieces of a message: thousands a turn, and the whole message comes after them.
_DELTA = b'{"type":"stream_event","event":{"type":"content_block_'

# Noise is quoted so far; the rest of a broken line helps nobody.
NOISE_LIMIT_BYTES = 2000
# After so many pieces of noise the rest is only counted.
NOISE_LIMIT = 1000
# A model that insists is denied hundreds of times; a person reads the first few.
LIST_LIMIT = 50


class ResultUsage(msgspec.Struct, frozen=True):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def all_input_tokens(self) -> int:
        parts = (
            self.input_tokens,
            self.cache_creation_input_tokens,
            self.cache_read_input_tokens,
        )
        return sum(max(0, part or 0) for part in parts)

    @property
    def tokens(self) -> Tokens:
        return Tokens(
            input=max(0, self.input_tokens or 0),
            cache_write=max(0, self.cache_creation_input_tokens or 0),
            cache_read=max(0, self.cache_read_input_tokens or 0),
            output=max(0, self.output_tokens or 0),
        )


class Denial(msgspec.Struct, frozen=True):
    tool_name: str = "?"
    tool_input: dict[str, Any] = {}


class Result(msgspec.Struct, frozen=True):
    """The end of a turn. Without `is_error` and `num_turns` it is not a result. The rest is read as
    far as it can be."""

    is_error: bool
    num_turns: int
    subtype: str = ""
    result: str | None = None
    session_id: str | None = None
    total_cost_usd: float | None = None
    usage: ResultUsage = ResultUsage()
    api_error_status: int | None = None
    terminal_reason: str | None = None
    permission_denials: tuple[Denial, ...] = ()
    errors: tuple[str, ...] = ()
    guessed: bool = False
    """The CLI does not know the model's price and took another's."""

    @property
    def failed(self) -> bool:
        """By any of the ways of saying so, also with a kind of error that nobody knows yet."""
        return self.is_error or self.subtype.startswith("error")


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the stream has told so far."""

    session_id: str | None
    result: Result | None
    went_on: bool
    """The agent worked after its last result: that result is not the end."""
    invalid_results: int
    noise: int
    retry_status: int | None
    retry_delay_ms: float | None
    limit_resets_at_s: float | None
    seen: Usage
    """Counted from the messages themselves, for turns that end without a result."""
    retrying: bool
    """The last word was that the model's API failed and is tried again."""
    lines: int


class Reader:
    """Feed it stdout; it never raises on what an agent prints."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._session: str | None = None
        self._result: Result | None = None
        self._went_on = False
        self._invalid_results = 0
        self._noise = 0
        self._count = 0
        self._retry: tuple[int | None, float | None] = (None, None)
        self._resets_at: float | None = None
        self._meter = Meter()
        self.marks = 0
        """Grows when there is something new to count."""
        self._retrying = False

    def feed(self, chunk: bytes) -> list[Entry]:
        end = chunk.rfind(b"\n")
        if end >= 0 and b"{" not in chunk and not self._lines.holds and chunk[:end].strip():
            # A flood of noise must not cost a line's work per line.
            self._count += 1
            return [*self._noisy(chunk[:end]), *self.feed(chunk[end + 1 :])]
        return [entry for line in self._lines.feed(chunk) for entry in self._line(line)]

    def close(self) -> list[Entry]:
        return [entry for line in self._lines.close() for entry in self._line(line)]

    def facts(self) -> Facts:
        return Facts(
            session_id=self._session,
            result=self._result,
            went_on=self._went_on,
            invalid_results=self._invalid_results,
            noise=self._noise,
            retry_status=self._retry[0],
            retry_delay_ms=self._retry[1],
            limit_resets_at_s=self._resets_at,
            seen=self._meter.usage(),
            retrying=self._retrying,
            lines=self._count,
        )

    def _line(self, line: Line) -> list[Entry]:
        if not line.content.strip():
            return []
        self._count += 1
        if line.lost_bytes:
            size = len(line.content) + line.lost_bytes
            return self._noisy(line.content, f"A line of {size} bytes was dropped: ")
        if not line.content.startswith(b"{"):
            return self._noisy(line.content)
        if line.content.startswith(_DELTA):
            return []
        try:
            event = msgspec.json.decode(line.content)
        except (msgspec.DecodeError, RecursionError):
            return self._noisy(line.content)
        return self._event(event)

    def _noisy(self, content: bytes, prefix: str = "") -> list[Entry]:
        self._noise += 1
        if self._noise > NOISE_LIMIT:
            return []
        text, marks = decoded(content[:NOISE_LIMIT_BYTES])
        return [Entry(kind="system", text=prefix + text, data={"noise": True} | marks)]

    def _event(self, event: dict[str, Any]) -> list[Entry]:
        session = event.get("session_id")
        if isinstance(session, str) and SESSION_ID.fullmatch(session):
            self._session = session
        kind = event.get("type")
        if kind in ("assistant", "user", "result", "stream_event"):
            self._retrying = False
        match kind:
            case "assistant":
                return self._assistant(event)
            case "stream_event":
                self._streamed(event)
            case "user":
                return _contents(event, "user")
            case "result":
                return self._end(event)
            case "system":
                return self._system(event)
            case "rate_limit_event":
                self._limit(event)
        return []

    def _assistant(self, event: dict[str, Any]) -> list[Entry]:
        message = event.get("message")
        if isinstance(message, dict) and message.get("model") != "<synthetic>":
            self._went_on = self._went_on or self._result is not None
            self._count_message(message, said=True)
        return _contents(event, "assistant")

    def _streamed(self, event: dict[str, Any]) -> None:
        """The model's own events: only what they say about tokens."""
        inner = event.get("event")
        if not isinstance(inner, dict):
            return
        message = inner.get("message")
        if inner.get("type") == "message_start" and isinstance(message, dict):
            self._count_message(message, said=False)
        elif inner.get("type") == "message_delta":
            name = event.get("api_message_id") or self._meter.last_id
            tokens = _usage(inner.get("usage")).tokens
            self.marks += self._meter.see(str(name), "", tokens, said=True)

    def _count_message(self, message: dict[str, Any], *, said: bool) -> None:
        model = message.get("model")
        name = model if isinstance(model, str) else ""
        tokens = _usage(message.get("usage")).tokens
        self.marks += self._meter.see(str(message.get("id")), name, tokens, said=said)

    def _system(self, event: dict[str, Any]) -> list[Entry]:
        match event.get("subtype"):
            case "init":
                keys = ("model", "claude_code_version", "permissionMode", "tools", "cwd")
                data = {key: event[key] for key in keys if key in event}
                begun = Entry(kind="system", text=f"session {self._session}", data=data)
                return [begun, *_unconnected(event.get("mcp_servers"))]
            case "api_retry":
                status, delay = event.get("error_status"), event.get("retry_delay_ms")
                self._retry = (
                    status if isinstance(status, int) else None,
                    float(delay) if isinstance(delay, int | float) else None,
                )
                self._retrying = True
                text = f"the model's API failed ({event.get('error')}), trying again"
                return [Entry(kind="system", text=text, data={"status": status})]
        return []

    def _limit(self, event: dict[str, Any]) -> None:
        info = event.get("rate_limit_info")
        resets = info.get("resetsAt") if isinstance(info, dict) else None
        if isinstance(resets, int | float):
            self._resets_at = float(resets)

    def _end(self, event: dict[str, Any]) -> list[Entry]:
        try:
            result = _result(event)
        except msgspec.ValidationError as error:
            self._invalid_results += 1
            return [Entry(kind="error", text=f"a result that cannot be read: {error}")]
        self._result = result
        self._went_on = False
        self.marks += 1
        data = {
            "subtype": result.subtype,
            "num_turns": result.num_turns,
            "total_cost_usd": result.total_cost_usd,
        }
        problems = "; ".join(result.errors)
        if result.failed:
            return [Entry(kind="error", text=result.result or problems or "error", data=data)]
        return [Entry(kind="system", text="end of turn", data=data)]


def _result(event: dict[str, Any]) -> Result:
    plain = lenient.read(event, Result, required=("is_error", "num_turns"))
    return msgspec.structs.replace(
        plain,
        usage=_usage(event.get("usage")),
        permission_denials=lenient.items(event.get("permission_denials"), Denial, LIST_LIMIT),
        errors=lenient.texts(event.get("errors"), LIST_LIMIT),
        guessed=_guessed(event.get("modelUsage")),
    )


def _guessed(by_model: Any) -> bool:
    used = by_model.values() if isinstance(by_model, dict) else ()
    return any(isinstance(one, dict) and one.get("costBasis") == "unknown" for one in used)


def _usage(value: Any) -> ResultUsage:
    return lenient.read(value, ResultUsage) if isinstance(value, dict) else ResultUsage()


def _contents(event: dict[str, Any], role: str) -> list[Entry]:
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    data = {"subagent": True} if event.get("parent_tool_use_id") else {}
    if isinstance(content, str):
        return [Entry(kind="text" if role == "assistant" else "system", text=content, data=data)]
    blocks = content if isinstance(content, list) else []
    entries = (_block(block, role, data) for block in blocks if isinstance(block, dict))
    return [entry for entry in entries if entry is not None]


def _block(block: dict[str, Any], role: str, data: dict[str, Any]) -> Entry | None:
    match block.get("type"):
        case "text":
            kind = "text" if role == "assistant" else "system"
            return Entry(kind=kind, text=str(block.get("text", "")), data=data)  # type: ignore[arg-type]
        case "thinking":
            return Entry(kind="thinking", text=str(block.get("thinking", "")), data=data)
        case "tool_use":
            about = {"tool_use_id": block.get("id"), "input": block.get("input")}
            return Entry(kind="tool_use", text=str(block.get("name", "?")), data=data | about)
        case "tool_result":
            about = {
                "tool_use_id": block.get("tool_use_id"),
                "is_error": block.get("is_error") is True,
            }
            return Entry(kind="tool_result", text=_text_of(block.get("content")), data=data | about)
    return None


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else str(content)
    parts = (
        str(part.get("text", "")) if part.get("type") == "text" else f"[{part.get('type')}]"
        for part in content
        if isinstance(part, dict)
    )
    return "\n".join(parts)


def _unconnected(servers: Any) -> list[Entry]:
    """MCP servers that the operator gave and the agent has to do without."""
    if not isinstance(servers, list):
        return []
    told = [one for one in servers if isinstance(one, dict) and one.get("status") == "failed"]
    return [Entry(kind="system", text=f"MCP server {one.get('name')} failed") for one in told]
