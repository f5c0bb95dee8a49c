"""What every kind of sandbox must do. Subclass `SandboxContract` and give it a `bench` fixture."""

from __future__ import annotations

import asyncio
from typing import Protocol

import msgspec
import pytest

from agent_work_orders.errors import Environmental, NotFound, Refused, TooLarge, Transient
from agent_work_orders.ids import new_order_id
from agent_work_orders.sandbox_manager.sandbox import Attachable, Sandbox, Sandboxes, Spec
from agent_work_orders.sandbox_manager.sandbox_types import SandboxType
from agent_work_orders.sandbox_manager.terminal import Terminal

AUTHOR = "Test Agent <agent@example.invalid>"
AT_MS = 1_700_000_000_000


class Bench(Protocol):
    """A factory on a prepared repository, whose base commit has `README.md` = `hello\\n`,
    `run.sh` (executable) and a `.gitignore` that names `*.ignored`."""

    sandboxes: Sandboxes
    sandbox_type: SandboxType
    repository: str
    base_sha: str

    async def entries(self, sha: str) -> dict[str, tuple[str, bytes]]:
        """Every path of a commit with its mode and content, read from the mirror."""
        ...

    async def parents(self, sha: str) -> tuple[str, ...]: ...


def order(bench: Bench) -> Spec:
    order_id = new_order_id()
    return Spec(
        order_id=order_id,
        sandbox_type=bench.sandbox_type,
        repository=bench.repository,
        base_sha=bench.base_sha,
        branch=f"feat-{order_id}",
    )


async def ready(bench: Bench) -> Sandbox:
    sandbox = bench.sandboxes.open(order(bench))
    await sandbox.setup()
    return sandbox


async def shell(sandbox: Sandbox, script: str) -> None:
    done = await sandbox.execute(["/bin/sh", "-ec", script])
    assert done.success, done


async def committed(sandbox: Sandbox) -> str | None:
    return await sandbox.commit("feat: work\n\nPhase: build\n", author=AUTHOR, at_ms=AT_MS)


class SandboxContract:
    """The suite. `bench` is a fixture that the subclass or its module provides."""

    async def test_setup_shows_the_base(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        assert await sandbox.read_file("README.md") == b"hello\n"
        assert (await sandbox.execute(["./run.sh"])).stdout == b"ran\n"
        head = await sandbox.execute(["git", "rev-parse", "HEAD"])
        assert head.stdout.decode().strip() == bench.base_sha
        state = await sandbox.state()
        assert state.exists and state.head_sha == bench.base_sha and state.disk_bytes

    async def test_setup_again_adopts(self, bench: Bench) -> None:
        spec = order(bench)
        sandbox = bench.sandboxes.open(spec)
        await sandbox.setup()
        await sandbox.write_file("kept", b"1")
        again = bench.sandboxes.open(spec)
        await again.setup()
        assert await again.read_file("kept") == b"1"

    async def test_records_follow_the_life(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        (record,) = await bench.sandboxes.records()
        assert record.status == "ACTIVE" and record.expires_at_ms > record.created_at_ms
        await sandbox.cleanup()
        await sandbox.cleanup()
        (record,) = await bench.sandboxes.records()
        assert record.status == "TERMINATED"
        assert not (await sandbox.state()).exists
        with pytest.raises(Environmental) as lost:
            await sandbox.execute(["true"])
        assert lost.value.code == "sandbox_lost"

    async def test_one_that_was_made_is_found_again(self, bench: Bench) -> None:
        spec = order(bench)
        assert await bench.sandboxes.found(spec.order_id) is None
        made = bench.sandboxes.open(spec)
        await made.setup()
        again = await bench.sandboxes.found(spec.order_id)
        assert again is not None and again.sandbox_identifier == made.sandbox_identifier
        assert await again.read_file("README.md") == b"hello\n"
        assert await bench.sandboxes.found(spec.order_id, "tests-1") is None
        await again.cleanup()
        gone = await bench.sandboxes.found(spec.order_id)
        assert gone is not None and not (await gone.state()).exists

    async def test_parts_have_records_of_their_own(self, bench: Bench) -> None:
        spec = msgspec.structs.replace(order(bench), part="tests-1")
        await bench.sandboxes.open(spec).setup()
        (record,) = await bench.sandboxes.records()
        assert (record.order_id, record.part) == (spec.order_id, "tests-1")

    async def test_interrupt_kills_what_runs_and_nothing_else(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        began = asyncio.Event()
        program = sandbox.execute(
            ["/bin/sh", "-c", "echo on; sleep 600"], on_output=lambda *_: began.set()
        )
        running = asyncio.create_task(program)
        async with asyncio.timeout(60):
            await began.wait()
            await sandbox.interrupt()
            try:
                assert not (await running).success
            except Transient as cut_off:
                assert cut_off.code == "supervisor_lost"
        await sandbox.interrupt()
        assert (await sandbox.execute(["./run.sh"])).stdout == b"ran\n"

    async def test_a_program_may_have_a_terminal(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        if not isinstance(sandbox, Attachable):
            return  # refused to whoever asks for one
        seen = bytearray()
        asked = asyncio.Event()

        def heard(piece: bytes) -> None:
            seen.extend(piece)
            if b"ready" in seen:
                asked.set()

        terminal = Terminal(31, 97, heard)
        script = "stty size; trap 'echo cut; exit 6' INT; echo ready; read x; echo never"
        program = sandbox.attach(["/bin/sh", "-c", script], terminal.program_end, timeout_s=60)
        running = asyncio.create_task(program)
        async with asyncio.timeout(60):
            await asked.wait()
            assert terminal.type(b"\x03")
            done = await running
        terminal.close()
        assert (done.ended, done.exit_code, done.stdout) == ("exited", 6, b"")
        assert bytes(seen).startswith(b"31 97\r\n") and b"cut" in seen and b"never" not in seen

    async def test_setup_of_a_missing_commit_fails_and_says_so(self, bench: Bench) -> None:
        spec = order(bench)
        broken = Spec(
            order_id=spec.order_id,
            sandbox_type=spec.sandbox_type,
            repository=spec.repository,
            base_sha="1" * 40,
            branch=spec.branch,
        )
        with pytest.raises(Environmental) as failed:
            await bench.sandboxes.open(broken).setup()
        assert failed.value.code == "sandbox_setup_failed"
        (record,) = await bench.sandboxes.records()
        assert record.status == "FAILED"
        assert not (await bench.sandboxes.state(spec.order_id)).exists
        await bench.sandboxes.open(spec).setup()

    async def test_a_failing_command_is_a_value(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        done = await sandbox.execute(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"])
        assert (done.ended, done.exit_code, done.success) == ("exited", 3, False)
        assert (done.stdout, done.stderr) == (b"out\n", b"err\n")
        killed = await sandbox.execute(["/bin/sh", "-c", "kill -9 $$"])
        assert (killed.ended, killed.exit_code, killed.signal) == ("exited", None, 9)

    async def test_a_missing_program_is_an_exception(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        with pytest.raises(Environmental) as missing:
            await sandbox.execute(["no-such-program-anywhere"])
        assert missing.value.code == "executable_missing"

    async def test_environment_is_built_from_nothing(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SERVER_SECRET", "canary")
        sandbox = await ready(bench)
        done = await sandbox.execute(["env"], env={"GIVEN": "yes"})
        names = {line.partition("=")[0] for line in done.stdout.decode().splitlines()}
        assert {"PATH", "HOME", "LANG", "TMPDIR", "AWO_ORDER_ID", "GIVEN"} <= names
        assert "SERVER_SECRET" not in names

    async def test_home_is_kept_between_calls(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        await shell(sandbox, 'echo session > "$HOME/kept"; echo "$HOME" > where')
        await sandbox.checkout(bench.base_sha)
        done = await sandbox.execute(["/bin/sh", "-c", 'cat "$HOME/kept"'])
        assert done.stdout == b"session\n"

    async def test_home_and_temporary_files_can_begin_anew(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        left = (
            'echo > made.txt; for d in "$HOME" "$TMPDIR"; do mkdir "$d/left"; echo > "$d/left/x";'
            ' chmod 0 "$d/left"; done'
        )
        assert (await sandbox.execute(["/bin/sh", "-c", left])).success
        await sandbox.empty_private()
        look = 'cat made.txt; find "$HOME" "$TMPDIR" -name left; git config user.name'
        done = await sandbox.execute(["/bin/sh", "-c", look])
        assert done.stdout == b"\nagent\n"

    async def test_stdin_and_streaming(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        heard: list[tuple[str, bytes]] = []
        done = await sandbox.execute(
            ["cat"], stdin=b"x" * 300_000, on_output=lambda name, data: heard.append((name, data))
        )
        assert done.stdout == b"x" * 300_000
        assert b"".join(data for _, data in heard) == done.stdout
        assert (await sandbox.execute(["cat"])).stdout == b""

    async def test_timeout_and_idle_limits_are_distinct(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        slow = await sandbox.execute(["sleep", "60"], timeout_s=0.3)
        assert (slow.ended, slow.exit_code, slow.success) == ("timed_out", None, False)
        silent = await sandbox.execute(["sleep", "60"], timeout_s=50, idle_s=0.3)
        assert silent.ended == "idle"
        busy = "for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done"
        talking = await sandbox.execute(["/bin/sh", "-c", busy], timeout_s=50, idle_s=5)
        assert talking.success

    async def test_output_is_bounded(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        script = "echo first; head -c 40000000 /dev/zero; echo last"
        done = await sandbox.execute(["/bin/sh", "-c", script])
        assert done.success and done.truncated
        assert done.stdout_bytes == 40_000_011
        assert len(done.stdout) < 9_000_000
        assert done.stdout.startswith(b"first\n") and done.stdout.endswith(b"last\n")

    async def test_cancelling_ends_the_program(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        running = asyncio.ensure_future(
            sandbox.execute(["/bin/sh", "-c", "echo up > started; exec sleep 600"])
        )
        while True:
            try:
                await sandbox.read_file("started")
                break
            except NotFound:
                await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await sandbox.execute(["true"])).success

    async def test_files(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        await sandbox.write_file("new/folder/file", b"content")
        assert await sandbox.read_file("new/folder/file") == b"content"
        await shell(
            sandbox, "test -O new/folder/file; test -w new/folder; echo more >> new/folder/file"
        )
        with pytest.raises(TooLarge) as large:
            await sandbox.read_file("README.md", limit_bytes=2)
        assert large.value.code == "file_too_large"
        with pytest.raises(NotFound):
            await sandbox.read_file("nothing/here")

    @pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", ".", "a\0b"])
    async def test_paths_stay_inside(self, bench: Bench, path: str) -> None:
        sandbox = await ready(bench)
        with pytest.raises(Refused) as read:
            await sandbox.read_file(path)
        with pytest.raises(Refused) as written:
            await sandbox.write_file(path, b"")
        assert read.value.code == written.value.code == "path_outside_workspace"

    async def test_commit_of_everything(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        await shell(
            sandbox,
            "echo new > added; chmod +x added; rm README.md; ln -s /etc/passwd link;"
            "echo no > x.ignored; echo no > .claude-pr-summary.md; mkdir empty",
        )
        sha = await committed(sandbox)
        assert sha is not None and await bench.parents(sha) == (bench.base_sha,)
        entries = await bench.entries(sha)
        assert entries["added"] == ("100755", b"new\n")
        assert entries["link"] == ("120000", b"/etc/passwd")
        assert set(entries) == {"added", "link", "run.sh", ".gitignore"}
        head = await sandbox.execute(["git", "log", "-1", "--format=%H %an %s"])
        assert head.stdout.decode() == f"{sha} Test Agent feat: work\n"
        clean = await sandbox.execute(["git", "status", "--porcelain"])
        assert clean.stdout == b""

    async def test_commits_stand_on_each_other(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        await sandbox.write_file("one", b"1")
        first = await committed(sandbox)
        await sandbox.write_file("two", b"2")
        second = await committed(sandbox)
        assert first and second and await bench.parents(second) == (first,)
        assert {"one", "two"} <= set(await bench.entries(second))

    async def test_no_change_is_no_commit(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        assert await committed(sandbox) is None
        await shell(sandbox, "touch README.md; echo x > a.ignored; git commit --allow-empty -qm x")
        assert await committed(sandbox) is None

    async def test_the_same_commit_has_the_same_id(self, bench: Bench) -> None:
        first, second = await ready(bench), await ready(bench)
        await first.write_file("same", b"1")
        await second.write_file("same", b"1")
        assert await committed(first) == await committed(second)

    async def test_checkout_goes_back(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        await shell(sandbox, "echo 1 > one; echo 2 > two.ignored; mkdir -p d/e; rm README.md")
        first = await committed(sandbox)
        await shell(sandbox, "rm -rf .git; echo 3 > three; ln -s / README.md; rm one; mkdir one")
        assert first is not None
        await sandbox.checkout(first)
        assert (await sandbox.execute(["git", "status", "--porcelain"])).stdout == b""
        names = await sandbox.execute(["ls"])
        assert names.stdout.split() == [b"one", b"run.sh"]
        await sandbox.checkout(bench.base_sha)
        assert await sandbox.read_file("README.md") == b"hello\n"
        await sandbox.write_file("branched", b"1")
        other = await committed(sandbox)
        assert other is not None and await bench.parents(other) == (bench.base_sha,)

    async def test_snapshot_moves_nothing(self, bench: Bench) -> None:
        sandbox = await ready(bench)
        await sandbox.write_file("draft", b"1")
        kept = await sandbox.snapshot("before-tests")
        assert (await bench.entries(kept))["draft"] == ("100644", b"1")
        assert (await sandbox.state()).head_sha == bench.base_sha
        sha = await committed(sandbox)
        assert sha is not None and await bench.parents(sha) == (bench.base_sha,)

    async def test_parts_of_an_order_are_apart_and_go_together(self, bench: Bench) -> None:
        spec, other = order(bench), await ready(bench)
        parts = [msgspec.structs.replace(spec, part=part) for part in ("", "tests-1")]
        for part in parts:
            sandbox = bench.sandboxes.open(part)
            await sandbox.setup()
            await sandbox.write_file("mine", part.part.encode())
        for part in parts:
            again = bench.sandboxes.open(part)
            await again.setup()
            assert await again.read_file("mine") == part.part.encode()
        assert await bench.sandboxes.discard(spec.order_id)
        for part in parts:
            assert not (await bench.sandboxes.open(part).state()).exists
        assert not await bench.sandboxes.discard(spec.order_id)
        assert (await other.state()).exists

    async def test_reap_takes_what_nobody_needs(self, bench: Bench) -> None:
        kept, closed = await ready(bench), await ready(bench)
        by_id = {record.sandbox_identifier: record for record in await bench.sandboxes.records()}
        mine = by_id[kept.sandbox_identifier]
        open_orders = {mine.order_id}
        assert await bench.sandboxes.reap(open_orders, mine.created_at_ms) == [
            closed.sandbox_identifier
        ]
        assert (await kept.state()).exists and not (await closed.state()).exists
        assert await bench.sandboxes.reap(open_orders, mine.expires_at_ms + 1) == [
            kept.sandbox_identifier
        ]
        assert not (await kept.state()).exists

    async def test_what_is_set_aside_is_neither_used_nor_removed(self, bench: Bench) -> None:
        spec, other = order(bench), await ready(bench)
        lost = bench.sandboxes.open(spec)
        await lost.setup()
        assert spec.order_id in await bench.sandboxes.orders()
        assert len(await bench.sandboxes.set_aside(spec.order_id)) == 1
        assert spec.order_id not in await bench.sandboxes.orders()
        assert not (await bench.sandboxes.state(spec.order_id)).exists
        assert await bench.sandboxes.set_aside(spec.order_id) == []
        assert (await other.state()).exists

    async def test_orders_do_not_see_each_other(self, bench: Bench) -> None:
        first, second = await ready(bench), await ready(bench)
        await first.write_file("mine", b"1")
        with pytest.raises(NotFound):
            await second.read_file("mine")
        assert first.sandbox_identifier != second.sandbox_identifier

    async def test_isolation_is_said(self, bench: Bench) -> None:
        words = bench.sandboxes.isolation(bench.sandbox_type)
        assert words.summary and words.network and words.files
