"""Programs under measurement: started with a tag, weighed by it, ended by it.

The tag is an environment variable, which children inherit also when they leave the session, so
that nothing a peer starts can be forgotten. A process is ended through a pidfd taken before its
tag was read: a pid that was reused in between cannot be hit.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.subjects.driver import OWN_NETWORK

TAG = "BENCH_TAG"
SAMPLE_EVERY_S = 0.2
END_LIMIT_S = 10.0
_numbers = itertools.count(1)


class Program:
    """One program and everything it starts."""

    def __init__(self, argv: list[str], *, cwd: Path, env: dict[str, str], log: Path) -> None:
        self._mark = f"{TAG}={os.getpid()}-{next(_numbers)}".encode()
        name, _, value = self._mark.decode().partition("=")
        with log.open("ab") as errors:
            self.popen = subprocess.Popen(
                argv,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**env, name: value},
                start_new_session=True,
            )

    def pids(self) -> list[int]:
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit() and self._owns(int(entry)):
                found.append(int(entry))
        return found

    def rss_bytes(self) -> int:
        """Resident memory over all processes. Pages they share count once per process."""
        total = 0
        for pid in self.pids():
            with contextlib.suppress(OSError):
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return total * os.sysconf("SC_PAGE_SIZE")

    def kill(self) -> None:
        """SIGKILL to every process, until none is left."""
        limit = time.perf_counter() + END_LIMIT_S
        while (left := self.pids()) and time.perf_counter() < limit:
            for pid in left:
                self._kill(pid)
            time.sleep(0.005)
        self.popen.wait(END_LIMIT_S)

    def _kill(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            try:
                if self._owns(pid):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            finally:
                os.close(handle)

    def _owns(self, pid: int) -> bool:
        try:
            return self._mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False


class Scale:
    """Weighs a program in the background and keeps the peak of each phase."""

    def __init__(self, program: Program) -> None:
        self.peak_bytes: dict[str, int] = {}
        self._phase = "start"
        self._program = program
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._weigh, daemon=True)

    def __enter__(self) -> Scale:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def turn(self, phase: str) -> None:
        """The next phase begins. Weighing on both sides of the turn gives even a phase shorter
        than the interval a value."""
        self._note(self._phase)
        self._phase = phase
        self._note(phase)

    def _weigh(self) -> None:
        while not self._over.wait(SAMPLE_EVERY_S):
            self._note(self._phase)

    def _note(self, phase: str) -> None:
        weight = self._program.rss_bytes()
        self.peak_bytes[phase] = max(weight, self.peak_bytes.get(phase, 0))


@contextlib.contextmanager
def running(argv: list[str], *, cwd: Path, env: dict[str, str], log: Path) -> Iterator[Program]:
    program = Program(argv, cwd=cwd, env=env, log=log)
    try:
        yield program
    finally:
        program.kill()
        if program.popen.stdout:
            program.popen.stdout.close()


def alone() -> tuple[list[str], dict[str, str]]:
    """An argv prefix and environment which give a program a network with nothing but loopback,
    where the kernel allows it. Some peers look for a newer release of themselves at start, and
    no setting stops all of them."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return [], {}
    prefix = [unshare, "--map-root-user", "--net"]
    if subprocess.run([*prefix, "true"], capture_output=True, check=False, timeout=10).returncode:
        return [], {}
    return prefix, {OWN_NETWORK: "1"}
