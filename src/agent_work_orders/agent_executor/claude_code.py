"""Claude Code as an agent: the real CLI, headless, one process per turn.

Rules:
- Nothing of the workspace configures the agent: its CLAUDE.md, .claude/, .mcp.json, hooks and
  commands may come from a stranger's branch. Repository instructions come by the request, from
  the trusted base.
- The prompt goes by stdin: no limit of argv, not in the process list, closed at its end. It
  starts with our own words, so that a leading `/` of a user's text is never a CLI command.
- The permission policy is fixed. File tools stay in the workspace; the shell is as free as the
  sandbox lets it be, because a list of allowed commands is no wall (`git -c alias.x='!sh'`).
- What it signs in with is in the agent's environment, its shell included, and what its MCP servers
  need is in the order's home: in the file-only sandboxes an agent can read both.
  `CLAUDE_CODE_SUBPROCESS_ENV_SCRUB` would hide a key from the shell, but the CLI
  (2.1.325) then demands bubblewrap and socat and drops our permission mode, so it is off unless
  asked for. Until requests go through a broker, give agents a key with a spending limit.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec

from agent_work_orders.agent_executor import claude_mcp, claude_outcome, transcript, watch
from agent_work_orders.agent_executor.agent import (
    AgentError,
    AgentRequest,
    Entry,
    Transcript,
    Turn,
    meter_entry,
)
from agent_work_orders.agent_executor.claude_sign_in import GOOGLE_FILE, SignIn
from agent_work_orders.agent_executor.claude_stream import Reader
from agent_work_orders.clock import Clock
from agent_work_orders.errors import Environmental, Refused
from agent_work_orders.sandbox_manager.sandbox import Sandbox
from agent_work_orders.security import given
from agent_work_orders.security.outbound import Outbound

DEFAULT_MODEL = "sonnet"
TOOLS = ("Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "Write")
# `Edit(./**)` covers Write too; a rule for Write does not match, an unscoped one opens the disk.
ALLOWED = ("Edit(./**)", "Read(./**)", "Bash")

CERTIFICATES_FILE = "certificates.pem"

OPENING = "This is your task. Work in the current directory.\n\n"

# The kernel refuses a single argument of 128 KiB.
INSTRUCTIONS_LIMIT_BYTES = 100_000

# What stands in a rule must mean itself: no comma, bracket or star.
_PLAIN_PATH = re.compile(r"/[A-Za-z0-9._/-]{1,1000}")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127}")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the server knows."""

    binary: str | None = None
    sign_in: SignIn = SignIn()
    mcp_config: str = ""
    max_retries: int = 2
    """A hiccup of a second or two is ridden out inside the turn (0.5 s, then 1.1 s). Longer
    waiting is the engine's durable work, not a sleeping process's: the session is resumed."""
    other_user: bool = True
    """Agents run under another uid, so the binary must be reachable by others."""
    outbound: Outbound = Outbound()
    """The operator's way out, for the agent too: not its password, which the agent could read."""
    scrub: bool = False
    """Hide the key from the agent's shell; see above for what the CLI asks in return."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an order may choose."""

    model: str | None = None
    max_turns: int | None = None
    first_output_s: float | None = 60.0
    """The CLI prints its first event within a second; a minute covers a busy machine."""


class Files(msgspec.Struct, kw_only=True):
    google: str | None = None
    certificates: str | None = None
    mcp: str | None = None
    mcp_servers: tuple[str, ...] = ()


class ClaudeCode:
    name = "claude_code"
    scripted = False

    def __init__(
        self, clock: Clock, settings: Settings | None = None, options: Options | None = None
    ) -> None:
        self._clock = clock
        self._settings = settings or Settings()
        self._options = options or Options()
        _checked_model(self._options.model)

    def check(self) -> str | None:
        binary = find_binary(self._settings.binary)
        if binary is None:
            return (
                "Claude Code was not found: install claude-agent-sdk or put `claude` on PATH, "
                "or set the path of the binary"
            )
        if self._settings.other_user and (blocked := unreachable(binary)) is not None:
            return f"Claude Code at {binary} cannot be run by the agent's user: see {blocked}"
        return self._settings.sign_in.missing()

    async def run(
        self,
        request: AgentRequest,
        sandbox: Sandbox,
        *,
        transcript: Transcript,
        env: Mapping[str, str] | None = None,
        previous_cost_usd: float | None = None,
    ) -> Turn:
        binary = find_binary(self._settings.binary)
        if binary is None:
            raise Environmental(
                "agent_missing", "Claude Code was not found", hint=self.check() or ""
            )
        turn = _Turn(self, request, sandbox, transcript, self.environment() | dict(env or {}))
        return await turn.run(binary, previous_cost_usd)

    def environment(self) -> dict[str, str]:
        settings = self._settings
        env = {
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_MAX_RETRIES": str(settings.max_retries),
            "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB": "1" if settings.scrub else "0",
        }
        way = {} if "@" in settings.outbound.proxy else settings.outbound.environment
        return env | way | settings.sign_in.environment()

    async def put_files(self, sandbox: Sandbox) -> Files:
        """What cannot be said in a variable, in the order's private home."""
        settings, files = self._settings, Files()
        if settings.sign_in.way == "vertex" and settings.sign_in.google_credentials:
            content = settings.sign_in.google_credentials.encode()
            files.google = await sandbox.put_private(GOOGLE_FILE, content)
        if settings.outbound.certificates:
            content = Path(settings.outbound.certificates).read_bytes()
            files.certificates = await sandbox.put_private(CERTIFICATES_FILE, content)
        if settings.mcp_config:
            files.mcp = await sandbox.put_private(claude_mcp.FILE, settings.mcp_config.encode())
            files.mcp_servers = tuple(claude_mcp.servers(settings.mcp_config))
        return files

    def argv(
        self, binary: str, request: AgentRequest, session: str | None, files: Files | None = None
    ) -> list[str]:
        """Values are joined to their flag with `=`, so that none can be taken for a flag."""
        model = _checked_model(request.model or self._options.model or DEFAULT_MODEL)
        argv = [binary, "-p", "--output-format=stream-json", "--verbose"]
        # Only these events have the true number of output tokens, and have it before the end.
        argv += ["--include-partial-messages"]
        argv += ["--setting-sources=", "--strict-mcp-config"]
        argv += ["--disable-slash-commands", "--permission-mode=dontAsk"]
        allowed = [*ALLOWED, *_reading(request.history_file)]
        if files is not None and files.mcp is not None:
            allowed += [f"mcp__{server}" for server in files.mcp_servers]
            argv.append(f"--mcp-config={files.mcp}")
        else:
            # Leaves out MCP servers too; where there are some, the flags before must be enough.
            argv.append("--safe-mode")
        argv += [f"--tools={','.join(TOOLS)}", f"--allowedTools={','.join(allowed)}"]
        argv += [f"--model={model}"]
        max_turns = request.max_turns or self._options.max_turns
        if max_turns is not None:
            argv.append(f"--max-turns={max_turns}")
        if request.instructions:
            argv.append(f"--append-system-prompt={_bounded(request.instructions)}")
        if session is not None:
            argv.append(f"--resume={session}")
        return argv

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def first_output_s(self) -> float | None:
        return self._options.first_output_s


class _Turn:
    """One turn, which is two processes when the session to resume turns out to be gone."""

    def __init__(
        self,
        agent: ClaudeCode,
        request: AgentRequest,
        sandbox: Sandbox,
        sink: Transcript,
        env: dict[str, str],
    ) -> None:
        self._agent = agent
        self._request = request
        self._sandbox = sandbox
        self._sink = sink
        self._say = transcript.limited(sink)
        self._env = env
        self._reader = Reader()
        self._previous_cost_usd: float | None = None
        self._marks = 0
        self._files = Files()

    async def run(self, binary: str, previous_cost_usd: float | None) -> Turn:
        request = self._request
        self._say(Entry(kind="prompt", text=request.prompt))
        self._files = await self._agent.put_files(self._sandbox)
        if self._files.google is not None:
            self._env["GOOGLE_APPLICATION_CREDENTIALS"] = self._files.google
        if self._files.certificates is not None:
            self._env["NODE_EXTRA_CA_CERTS"] = self._files.certificates
        session = request.session_id
        if session is not None and not claude_outcome.is_session_id(session):
            self._say(Entry(kind="system", text="the session id is not one: a new session starts"))
            session = None
        turn = await self._process(binary, session, previous_cost_usd)
        if session is not None and claude_outcome.session_is_gone(self._reader.facts()):
            self._say(Entry(kind="system", text="the session is gone: a new session starts"))
            turn = await self._process(binary, None, None)
        if turn.error is not None:
            data = {"kind": turn.error.kind, "retry_at_ms": turn.error.retry_at_ms}
            self._say(Entry(kind="error", text=turn.error.message, data=data))
        return turn

    async def _process(
        self, binary: str, session: str | None, previous_cost_usd: float | None
    ) -> Turn:
        request = self._request
        self._reader, self._marks = Reader(), 0
        self._previous_cost_usd = previous_cost_usd
        prompt = OPENING + request.history + request.prompt
        if session is not None:
            prompt = OPENING + (request.go_on or request.prompt)
        first_output_s = self._agent.first_output_s
        try:
            execution = await watch.execute(
                self._sandbox,
                self._agent.argv(binary, request, session, self._files),
                request=request,
                stdin=prompt.encode("utf-8", "replace"),
                env=self._env,
                on_output=self._heard,
                first_output_s=first_output_s,
            )
        except watch.Silent:
            return self._unfinished(claude_outcome.silent(first_output_s or 0.0))
        finally:
            self._close()
        return claude_outcome.turn(
            self._reader.facts(),
            execution,
            now_ms=self._agent.clock.now_ms(),
            timeout_s=request.timeout_s,
            resumed=session,
            previous_cost_usd=previous_cost_usd,
        )

    def _heard(self, stream: Literal["stdout", "stderr"], chunk: bytes) -> None:
        if stream == "stdout":
            for entry in self._reader.feed(chunk):
                self._say(entry)
            self._meter()

    def _meter(self) -> None:
        """What was used so far, beside the transcript's limit: it must survive our own death."""
        if self._reader.marks == self._marks:
            return
        self._marks = self._reader.marks
        facts = self._reader.facts()
        usage = claude_outcome.used(facts, self._previous_cost_usd)
        total = facts.result.total_cost_usd if facts.result is not None else None
        self._sink(meter_entry(usage, facts.session_id, total))

    def _close(self) -> None:
        """Also when cancelled: what was spent must be on record."""
        for entry in self._reader.close():
            self._say(entry)
        self._meter()
        usage = claude_outcome.used(self._reader.facts(), self._previous_cost_usd)
        self._say(Entry(kind="system", text="usage", data={"usage": msgspec.to_builtins(usage)}))

    def _unfinished(self, error: AgentError) -> Turn:
        facts = self._reader.facts()
        return Turn(ok=False, session_id=facts.session_id, usage=facts.seen, error=error)


def find_binary(configured: str | None) -> str | None:
    """The configured one, `claude` on PATH, or the one that PyPI's claude-agent-sdk carries."""
    if configured is not None:
        runs = os.path.isfile(configured) and os.access(configured, os.X_OK)
        return configured if runs else None
    if (found := shutil.which("claude")) is not None:
        return found
    spec = find_spec("claude_agent_sdk")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        bundled = Path(folder) / "_bundled" / "claude"
        if os.access(bundled, os.X_OK):
            return str(bundled)
    return None


def unreachable(binary: str) -> str | None:
    """The first part of the path that another user may not pass, or None."""
    path = Path(binary).resolve()
    for folder in reversed(path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return str(folder)
    wanted = stat.S_IXOTH | stat.S_IROTH
    return None if path.stat().st_mode & wanted == wanted else str(path)


def _checked_model(model: str | None) -> str | None:
    if model is not None and not _MODEL.fullmatch(model):
        raise Refused(
            "agent_option_invalid",
            f"Not the name of a model: {given.told(model, shown=True)}",
            hint="Use an alias such as sonnet, or a full model name.",
            field="model",
        )
    return model


def _reading(file: str | None) -> list[str]:
    """A rule for one file outside the workspace; `//` is the root of the disk."""
    return [f"Read(/{file})"] if file and _PLAIN_PATH.fullmatch(file) else []


def _bounded(instructions: str) -> str:
    """NUL cannot stand in an argument, and an argument has a size limit."""
    data = instructions.replace("\0", "").encode("utf-8", "replace")
    return data[:INSTRUCTIONS_LIMIT_BYTES].decode("utf-8", "ignore")
