"""Commands for agents, listed and shown: ours, and a repository's at its trusted base."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent_work_orders.api.routes import commands as models
from agent_work_orders.bootstrap import House

FILES = {
    "review.md": b"---\ndescription: Look at a change\nargument-hint: [issue]\n---\nLook at $1.\n",
    "docs/write.md": b"Write about $ARGUMENTS.\n",
    "plan.md": b"---\ndescription: Ours\nallowed-tools: Bash, Edit\nmodel: opus\n---\nPlan it.\n",
    "test.md": b"---\ndescription: no end\n",
    "typed.md": b"---\nmodel: opus\ndescription:\n  a: 1\n---\nGo.\n",
    "large.md": b"x" * 2_000_000,
}


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.invalid"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit_commands(repository: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        file = repository / ".claude" / "commands" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "Commands")


async def listed(client: Any, **query: str) -> models.CommandList:
    answer = await client.get("/api/commands", params=query)
    assert answer.status_code == 200, answer.text
    return models.CommandList.model_validate(answer.json())


async def test_without_a_repository_the_built_in_ones_are_listed(client: Any) -> None:
    found = await listed(client)
    assert {one.name for one in found.commands} == {"plan", "build", "test"}
    assert {one.origin for one in found.commands} == {"builtin"}
    assert all(one.description and one.file is None for one in found.commands)
    assert found.repository is None and found.base_sha is None and found.problems == []


async def test_a_repositorys_commands_are_listed_with_what_is_wrong(
    client: Any, repository: Path
) -> None:
    commit_commands(repository, FILES)
    found = await listed(client, repository=str(repository))
    assert found.base_branch == "main"
    assert found.base_sha == git(repository, "rev-parse", "HEAD")
    by_name = {one.name: one for one in found.commands}
    # `test` is not ours any more: the file that replaces it is broken.
    assert sorted(by_name) == ["build", "docs:write", "plan", "review"]
    review, write, plan = by_name["review"], by_name["docs:write"], by_name["plan"]
    assert (review.argument_hint, review.takes_arguments, review.positions) == ("[issue]", True, 1)
    assert (write.takes_arguments, write.positions) == (True, 0)
    assert (plan.origin, plan.file) == ("repository", ".claude/commands/plan.md")
    assert (plan.allowed_tools, plan.model) == (["Bash", "Edit"], "opus")
    assert by_name["build"].origin == "builtin"
    problems = {Path(one.file).name: one for one in found.problems}
    assert sorted(problems) == ["large.md", "test.md", "typed.md"]
    assert "64 KiB" in problems["large.md"].message
    assert "closing" in problems["test.md"].message
    assert problems["typed.md"].line == 3
    assert "`description` is not text" in problems["typed.md"].message
    assert all(one.hint for one in found.problems)


async def test_only_the_base_branch_counts_and_it_is_read_anew(
    client: Any, repository: Path
) -> None:
    git(repository, "checkout", "--quiet", "-b", "next")
    commit_commands(repository, {"later.md": b"Later.\n"})
    git(repository, "checkout", "--quiet", "main")
    # What is only in the work tree is nobody's command.
    (repository / ".claude" / "commands").mkdir(parents=True, exist_ok=True)
    (repository / ".claude" / "commands" / "draft.md").write_text("Draft.\n")
    names = [one.name for one in (await listed(client, repository=str(repository))).commands]
    assert names == ["build", "plan", "test"]
    on_next = await listed(client, repository=str(repository), base="next")
    assert "later" in [one.name for one in on_next.commands]
    commit_commands(repository, {"new.md": b"New.\n"})
    now = await listed(client, repository=str(repository))
    assert "new" in [one.name for one in now.commands]


async def test_one_is_shown_by_its_name_or_alias(client: Any, repository: Path) -> None:
    commit_commands(repository, FILES)
    where = {"repository": str(repository)}
    answer = await client.get("/api/commands/docs:write", params=where)
    shown = models.CommandAnswer.model_validate(answer.json()).command
    assert shown.body == "Write about $ARGUMENTS.\n"
    alias = await client.get("/api/commands/agent_workflow_plan", params=where)
    assert alias.json()["command"]["body"] == "Plan it.\n"
    assert (await client.get("/api/commands/plan")).json()["command"]["origin"] == "builtin"
    unknown = await client.get("/api/commands/revew", params=where)
    assert unknown.status_code == 404
    assert unknown.json()["code"] == "command_unknown"
    assert "/review" in unknown.json()["hint"]
    broken = await client.get("/api/commands/test", params=where)
    assert (broken.status_code, broken.json()["code"]) == (422, "command_invalid")


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"repository": "/nowhere/at/all"}, 422, "repository_not_found"),
        ({"base": "absent"}, 422, "base_branch_missing"),
        ({"base": "../x"}, 422, "branch_name_invalid"),
        ({"repository": "ext::sh -c id"}, 422, "repository_url_scheme"),
    ],
)
async def test_what_an_order_could_not_use_is_refused(
    client: Any, repository: Path, query: dict[str, str], status: int, code: str
) -> None:
    answer = await client.get("/api/commands", params={"repository": str(repository)} | query)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_roles_and_repositories_are_kept(
    client: Any, as_key: Any, house: House, repository: Path, other_repository: Path
) -> None:
    own, other = {"repository": str(repository)}, {"repository": str(other_repository)}
    async with as_key("viewer", [repository]) as viewer:
        assert (await viewer.get("/api/commands", params=other)).status_code == 404
        # A viewer looks at what is there; the first copy of a repository is an operator's to make.
        assert (await viewer.get("/api/commands", params=own)).status_code == 403
        assert not list((house.settings.home / "mirrors").glob("*.git"))
        assert (await client.get("/api/commands", params=own)).status_code == 200
        assert (await viewer.get("/api/commands", params=own)).status_code == 200
        assert (await viewer.get("/api/commands/plan", params=other)).status_code == 404
