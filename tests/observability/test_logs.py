"""One line each, clean and bounded, in every place that keeps it."""

from __future__ import annotations

import errno
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from agent_work_orders.clock import SystemClock
from agent_work_orders.observability import logs
from agent_work_orders.observability.order_log import OrderLog, bounded
from agent_work_orders.security.redaction import Redactor

SECRET = "canary-secret-0123456789"
ORDER = "wo-aaaaaaaaaaaaaaaa"


class Fixed(SystemClock):
    def now_ms(self) -> int:
        return 1_794_733_205_123


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    made = io.StringIO()
    logs.configure(level="info", pretty=False, redact=Redactor([SECRET]).value, stream=made)
    yield made
    structlog.reset_defaults()


@pytest.fixture
def kept() -> list[tuple[Any, ...]]:
    return []


@pytest.fixture
def files(tmp_path: Path) -> Iterator[logs.OrderFiles]:
    made = logs.OrderFiles(tmp_path / "logs", Fixed())
    yield made
    made.close()


@pytest.fixture
def log(files: logs.OrderFiles, stream: io.StringIO, kept: list[tuple[Any, ...]]) -> OrderLog:
    class Waiting(OrderLog):
        """Waits until the thread has written each line."""

        def __call__(self, *line: Any) -> None:
            super().__call__(*line)
            files.flush()

    return Waiting(
        files, Fixed(), redact=Redactor([SECRET]).value, sink=lambda *line: kept.append(line)
    )


def lines(folder: Path) -> list[dict[str, Any]]:
    [file] = folder.rglob("*.jsonl")
    return [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]


@pytest.mark.fault("K11")
def test_a_line_is_one_line(log: OrderLog, tmp_path: Path, stream: io.StringIO) -> None:
    log(ORDER, "task_failed", "warning", {"error": 'a\r\nb\n{"event": "forged"}\u2028\x1b[2J'})
    assert (tmp_path / "logs/2026-11-15" / f"{ORDER}.jsonl").exists()
    [line] = lines(tmp_path)
    assert line["event"] == "task_failed" and line["level"] == "warning"
    assert line["agent_work_order_id"] == ORDER
    assert line["timestamp"] == "2026-11-15T09:00:05.123Z"
    assert len(stream.getvalue().splitlines()) == 1
    assert json.loads(stream.getvalue())["agent_work_order_id"] == ORDER
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("gone", [ValueError("I/O operation on closed file"), BrokenPipeError(32)])
def test_an_output_that_nobody_reads_costs_only_its_lines(
    log: OrderLog,
    tmp_path: Path,
    kept: list[tuple[Any, ...]],
    stream: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
    gone: Exception,
) -> None:
    def write(_text: str) -> int:
        raise gone

    monkeypatch.setattr(stream, "write", write)
    log(ORDER, "task_failed", "warning", {})
    assert [line["event"] for line in lines(tmp_path)] == ["task_failed"]
    assert len(kept) == 1


@pytest.mark.fault("K11")
def test_a_terminal_gets_one_line_too() -> None:
    made = io.StringIO()
    logs.configure(level="info", pretty=True, redact=lambda event: event, stream=made)
    structlog.get_logger().info("task_failed", error="a\r\nforged\x1b[2J\x07")
    structlog.reset_defaults()
    assert len(made.getvalue().splitlines()) == 1
    assert "\x1b[2J" not in made.getvalue() and "\x07" not in made.getvalue()


@pytest.mark.fault("I1")
def test_no_sink_gets_a_secret(
    log: OrderLog, tmp_path: Path, stream: io.StringIO, kept: list[tuple[Any, ...]]
) -> None:
    try:
        raise ValueError(f"cannot reach https://x:{SECRET}@host")
    except ValueError as error:
        log(ORDER, "task_broken", "error", {"error": SECRET, "n": {SECRET: [SECRET]},
                                            "exc_info": error})  # fmt: skip
    assert SECRET not in (tmp_path / "logs/2026-11-15" / f"{ORDER}.jsonl").read_text()
    assert SECRET not in repr(kept) and len(kept) == 1
    assert SECRET not in stream.getvalue()
    assert "ValueError" in stream.getvalue()


def test_a_huge_field_is_cut(log: OrderLog, tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = {"in": [deep]}
    log(ORDER, "e", "info", {"text": "y" * 10**6, "list": list(range(10**5)), "deep": deep})
    [file] = tmp_path.rglob("*.jsonl")
    assert file.stat().st_size < 20_000
    [line] = lines(tmp_path)
    assert line["text"].endswith("… (1000000 characters)")
    assert line["list"][-1] == "… (99950 more)"
    assert bounded({"a": 1}) == {"a": 1}


def test_a_full_disk_costs_the_line_only(
    log: OrderLog, kept: list[tuple[Any, ...]], stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(logs.OrderFiles, "write", full)
    log(ORDER, "task_started", "info", {"task": "a"})
    assert len(kept) == 1
    assert "No space left" in stream.getvalue()


def test_lines_without_an_order_go_to_the_server_only(
    log: OrderLog, tmp_path: Path, kept: list[tuple[Any, ...]], stream: io.StringIO
) -> None:
    log("", "workflow_file_unusable", "warning", {"file": "x.yaml"})
    assert list(tmp_path.rglob("*.jsonl")) == [] and kept == []
    assert "agent_work_order_id" not in json.loads(stream.getvalue())


def test_files_are_private_and_few_stay_open(tmp_path: Path) -> None:
    files = logs.OrderFiles(tmp_path / "logs", Fixed(), keep_open=2)
    for number in range(5):
        files.write(f"wo-{number}", "info", "e", {})
    files.write("wo-0", "info", "again", {})
    files.close()
    day = tmp_path / "logs" / "2026-11-15"
    assert day.stat().st_mode & 0o077 == 0
    assert len((day / "wo-0.jsonl").read_text().splitlines()) == 2
    assert len(list(day.iterdir())) == 5
