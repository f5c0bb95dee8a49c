"""Drives the product through its deaths: starts it, gives it orders, kills it, and looks after.

Orders are given with idempotency keys; the driver sends one again only while nobody has
acknowledged it, as a client would.
"""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import power_cut

HERE = Path(__file__).parent
PATIENCE_S = 60.0
AGENT = """#!/bin/sh
# An agent of the campaign: edits, dawdles, sometimes leaves a daemon, sometimes changes nothing.
export CRASH_MARK={mark}
[ -e {folder}/slow ] && sleep 300
[ $(( $$ % 7 )) = 0 ] && setsid sh -c 'trap "" TERM HUP; sleep 600; :' >/dev/null 2>&1 &
sleep 0.0$(( $$ % 10 ))
case "$(head -c 4000 "$1")" in
  *[Ii]mplement*) [ $(( $$ % 5 )) = 0 ] && exit 0 ;;
esac
mkdir -p notes
echo "$$ $(head -c 60 "$1")" >> notes/$$.txt
echo "line of $$" >> journal.txt
sleep 0.0$(( $$ % 7 ))
"""


class Dead(Exception):
    """The child is gone."""


class Child:
    """One life of the product."""

    def __init__(self, home: Path, log: Path, **environ: str) -> None:
        source = HERE.parent.parent / "src"
        self.process = subprocess.Popen(
            [
                *environ.pop("CRASH_UNDER", "").split(),
                sys.executable,
                str(HERE / "crash_child.py"),
                str(home),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("ab"),
            env={**os.environ, "PYTHONPATH": str(source), **environ},
        )
        self._buffer = b""
        self._n = 0
        self._told: dict[int, dict[str, Any]] = {}

    def wait_ready(self) -> dict[str, Any]:
        return self.reply(0)

    def ask(self, verb: str, **facts: Any) -> dict[str, Any]:
        return self.reply(self.send(verb, **facts))

    def send(self, verb: str, **facts: Any) -> int:
        self._n += 1
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(
                msgspec.json.encode({"n": self._n, "verb": verb, **facts}) + b"\n"
            )
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Dead from None
        return self._n

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.end()

    def terminate(self, within_s: float = PATIENCE_S) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within_s)

    def end(self) -> int:
        code = self.process.wait(PATIENCE_S)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        return code

    def reply(self, number: int) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while number not in self._told:
            self._read(deadline)
        return self._told.pop(number)

    def _read(self, deadline: float) -> None:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError("the product does not answer")
        chunk = os.read(descriptor, 1 << 20)
        if not chunk:
            raise Dead
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        for line in lines:
            told = msgspec.json.decode(line)
            self._told[told["n"]] = told


class Wish(msgspec.Struct):
    key: str
    order: str | None = None


class Campaign:
    def __init__(self, folder: Path, *, seed: int, mutation: str = "") -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.mutation = mutation
        self.home = folder / "home"
        self.log = folder / "product.log"
        self.mark = f"crash-{os.getpid()}-{seed}"
        self.origin = self._repository()
        self.agent = folder / "agent.sh"
        self.agent.write_text(AGENT.format(mark=self.mark, folder=folder))
        self.agent.chmod(0o755)
        self.wishes: list[Wish] = []
        self.hits: Counter[str] = Counter()
        self.kills = 0
        self.lives = 0
        self.fds: list[int] = []

    def want(self, count: int) -> None:
        self.wishes += [Wish(f"wish-{len(self.wishes) + n}") for n in range(count)]

    def die_at(self, point: str, call: int = 1) -> bool:
        """One life that ends at this point. False when it was not reached."""
        reached = self._work_until_death(self.start(CRASH_AT=f"{point}:{call}"))
        self.hits[point] += reached
        return reached

    def _work_until_death(self, child: Child) -> bool:
        """Give it orders until it dies. False when it does not want to."""
        deadline = time.monotonic() + PATIENCE_S
        try:
            self.fds.append(child.wait_ready()["fds"])
            while time.monotonic() < deadline:
                self.submit(child)
                if child.ask("open")["open"] == 0:
                    self.want(2)
                time.sleep(0.05)
        except Dead:
            code = child.end()
            assert code == -signal.SIGKILL, f"exit {code}: {self.log.read_text()[-3000:]}"
            return True
        child.kill()
        return False

    def die_within(self, seconds: float) -> None:
        """One life, killed from outside at some time."""
        child = self.start()
        threading.Timer(seconds, child.process.kill).start()
        try:
            child.wait_ready()
            self.submit(child)
        except Dead:
            pass
        child.end()
        self.kills += 1

    def die_at_fsync(self, number: int) -> bool:
        """One life, killed in the `number`-th fsync of its journal."""
        child = self.start(CRASH_UNDER=power_cut.kill_at_fsync(number))
        return self._work_until_death(child)

    def finish(self) -> dict[str, dict[str, Any]]:
        """The last life: everything ends. What each order came to, and `verify` on top."""
        child = self.start()
        child.wait_ready()
        self.submit(child)
        deadline = time.monotonic() + 3 * PATIENCE_S
        while (state := child.ask("open"))["open"]:
            if time.monotonic() > deadline:
                child.kill()
                raise AssertionError(f"not all orders end: {state}")
            time.sleep(0.1)
        time.sleep(0.2)
        found = {
            str(wish.order): child.ask("look", order=wish.order)
            for wish in self.wishes
            if wish.order is not None
        }
        found["verify"] = child.ask("verify")
        assert child.terminate() == 0, self.log.read_text()[-2000:]
        child.end()
        return found

    def start(self, **environ: str) -> Child:
        self.lives += 1
        if self.mutation:
            environ["CRASH_MUTATION"] = self.mutation
        return Child(self.home, self.log, **environ)

    def submit(self, child: Child) -> None:
        """Everything that nobody has acknowledged yet."""
        asked = [
            (wish, child.send("submit", order=self.order_of(wish.key)))
            for wish in self.wishes
            if wish.order is None
        ]
        for wish, number in asked:
            told = child.reply(number)
            assert "order" in told, told
            wish.order = told["order"]

    def order_of(self, key: str) -> dict[str, Any]:
        return {
            "repository_url": str(self.origin),
            "initial_prompt": f"do what {key} says",
            "idempotency_key": key,
            "agent": {"name": "command", "argv": [str(self.agent), "{prompt_file}"]},
        }

    def _repository(self) -> Path:
        work, origin = self.folder / "work", self.folder / "origin.git"
        identity = ["-c", "user.name=x", "-c", "user.email=x@x.invalid"]
        git("init", "-q", "-b", "main", str(work))
        (work / "readme.md").write_text("# sample\n")
        git("-C", str(work), "add", ".")
        git("-C", str(work), *identity, "commit", "-q", "-m", "init")
        git("clone", "-q", "--bare", str(work), str(origin))
        return origin


def git(*args: str) -> str:
    done = subprocess.run(["git", *args], capture_output=True, text=True, check=True)
    return done.stdout
