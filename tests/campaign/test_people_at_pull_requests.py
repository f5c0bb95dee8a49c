"""What a person does to our pull request is theirs: never a second one, nothing overwritten."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from people_town import Town, opened

pytestmark = pytest.mark.slow


@pytest.fixture
async def town(room: Path) -> AsyncIterator[Town]:
    async with opened(room) as town:
        yield town


@pytest.mark.fault("N1")
async def test_a_server_that_takes_two_of_a_branch_is_given_one(town: Town) -> None:
    town.github.world.refuses_second_pulls = False
    place = await town.order("lenient")
    record = await place.until_ended()
    assert record.status == "completed"
    assert not place.pull.draft and place.pull.head_sha == place.branches[place.branch]


@pytest.mark.fault("N1")
async def test_a_closed_one_ends_the_order_and_reopening_it_goes_on(town: Town) -> None:
    place = await town.order("closed")
    await place.reach("draft open")
    place.act("PATCH", f"pulls/{place.pull.number}", {"state": "closed"})
    record = await place.until_ended()
    assert (record.status, record.error_code) == ("failed", "pull_request_closed")
    assert f"#{place.pull.number}" in str(record.error_message)
    assert "eopen" in str(record.error_hint)
    await place.until_said(1, "⛔ ended: its pull request was closed")
    before = place.branches
    again = await place.retry()
    assert again.error_code == "pull_request_closed" and place.branches == before
    place.act("PATCH", f"pulls/{place.pull.number}", {"state": "open"})
    done = await place.retry()
    assert done.status == "completed" and not place.pull.draft


@pytest.mark.fault("N1")
async def test_a_branch_that_somebody_deleted_is_not_pushed_again(town: Town) -> None:
    place = await town.order("deleted")
    await place.reach("draft open")
    place.act("DELETE", f"git/refs/heads/{place.branch}")
    record = await place.until_ended()
    assert record.error_code == "pull_request_closed"
    assert list(place.branches) == ["main"] and len(place.pulls) == 1


@pytest.mark.fault("N1")
async def test_merged_early_it_says_what_is_not_in_it(town: Town) -> None:
    place = await town.order("merged")
    await place.reach("while the agent works")
    place.act("PATCH", f"pulls/{place.pull.number}", {"title": "x"})
    town.github.world.repositories[place.stored.id].pulls[place.pull.number].draft = False
    place.act("PUT", f"pulls/{place.pull.number}/merge")
    record = await place.until_ended()
    assert (record.status, record.error_code) == ("failed", "pull_request_merged")
    assert "1 commit" in str(record.error_message) and len(place.pulls) == 1
    kept = await town.follow(record.error_hint, ORDER=place.order_id)
    assert "+++ b/made.txt" in kept, "what was not in it can be had"


@pytest.mark.fault("N1")
async def test_merged_when_all_was_in_it_is_done(town: Town) -> None:
    place = await town.order("whole", workflow=TWICE)
    await place.reach("draft open")
    place.stored.pulls[place.pull.number].draft = False
    place.act("PUT", f"pulls/{place.pull.number}/merge")
    place.act("DELETE", f"git/refs/heads/{place.branch}")
    record = await place.until_ended()
    assert record.status == "completed" and len(place.pulls) == 1
    assert list(place.branches) == ["main"]
    assert str(record.github_pull_request_url).endswith(f"/pull/{place.pull.number}")


TWICE = """
name: twice
tasks:
  plan: {uses: agent.command, phase: planning, with: {command: plan}}
  draft: {needs: [plan], uses: forge.open_pull_request, with: {draft: true}}
  second:
    needs: [draft]
    approval: {message: "draft open", expires: 1h}
    uses: sandbox.exec
    with: {argv: ["true"]}
  publish: {needs: [second], uses: forge.open_pull_request}
"""


@pytest.mark.fault("N1")
async def test_what_a_person_wrote_and_chose_stays(town: Town) -> None:
    """Title, body without our marker, and base."""
    place = await town.order("edited")
    await place.reach("draft open")
    place.act("POST", "git/refs", {"ref": "refs/heads/next", "sha": place.branches["main"]})
    theirs = {"title": "My title", "body": "My words, without a marker.", "base": "next"}
    place.act("PATCH", f"pulls/{place.pull.number}", theirs)
    record = await place.until_ended()
    assert record.status == "completed"
    assert (place.text.title, place.text.body, place.pull.base_ref) == tuple(theirs.values())
    assert place.pull.head_sha == place.branches[place.branch] and not place.pull.draft
    assert str(record.github_pull_request_url).endswith(f"/pull/{place.pull.number}")
    await place.until_said(1, f"Pull request: {record.github_pull_request_url}")


@pytest.mark.fault("N1")
async def test_a_title_of_ours_is_brought_up_to_date_beside_a_body_of_theirs(town: Town) -> None:
    place = await town.order("half")
    await place.reach("draft open")
    place.act("PATCH", f"pulls/{place.pull.number}", {"body": "Theirs."})
    await place.reach("after publish")
    assert place.text.body == "Theirs."
    place.act("PATCH", f"pulls/{place.pull.number}", {"title": "Theirs too"})
    await place.until_ended()
    assert (place.text.title, place.text.body) == ("Theirs too", "Theirs.")


@pytest.mark.fault("N1")
async def test_one_that_was_made_a_draft_again_stays_one(town: Town) -> None:
    place = await town.order("draft-again")
    await place.reach("after publish")
    assert not place.pull.draft
    place.stored.pulls[place.pull.number].draft = True
    record = await place.until_ended()
    assert record.status == "completed" and place.pull.draft
    assert place.pull.head_sha == place.branches[place.branch]


@pytest.mark.fault("N2")
@pytest.mark.parametrize("force", [False, True])
async def test_what_a_person_pushed_is_built_on_when_they_retry(town: Town, force: bool) -> None:
    place = await town.order(f"pushed-{force}".lower())
    await place.reach("while the agent works")
    theirs = place.push({"theirs.txt": "theirs"}, force=force)
    record = await place.until_ended()
    assert record.error_code == "remote_changed" and theirs[:12] in str(record.error_message)
    assert "etry" in str(record.error_hint) and place.branches[place.branch] == theirs
    again = place.push({"more-of-theirs.txt": "more"})
    asked = await place.retry()
    assert asked.error_code == "remote_changed" and again[:12] in str(asked.error_message)
    assert place.branches[place.branch] == again, "it is asked about what is there now"
    done = await place.retry()
    assert done.status == "completed", done.error_message
    store = town.github.world.git(place.stored)
    head = place.branches[place.branch]
    assert again in store.log(head) and place.pull.head_sha == head
    files = store.run("ls-tree", "--name-only", head).split()
    assert {"theirs.txt", "more-of-theirs.txt", "made.txt", "more.txt"} <= {*files}
    assert ("plan.md" in files) is not force, "what they took out is not brought back"


FURTHER = """
name: further
tasks:
  more: {uses: agent.command, with: {command: test}}
  publish: {needs: [more], uses: forge.open_pull_request}
"""


@pytest.mark.fault("N2")
async def test_what_a_person_pushed_can_be_the_base_of_a_new_order(town: Town) -> None:
    """The other way that the hint names: nothing of theirs is touched, nor their branch."""
    place = await town.order("based")
    await place.reach("while the agent works")
    theirs = place.push({"theirs.txt": "theirs"})
    record = await place.until_ended()
    assert record.error_code == "remote_changed"
    assert "create a new order with that branch as its base" in str(record.error_hint)

    anew = await town.order_on(place.stored, FURTHER, base=place.branch)
    done = await anew.until_ended()
    assert done.status == "completed", done.error_message
    assert anew.branch != place.branch and anew.branches[place.branch] == theirs
    assert theirs in anew.history()
    files = town.github.world.git(anew.stored).run("ls-tree", "--name-only", anew.branch).split()
    assert {"plan.md", "theirs.txt", "more.txt"} <= {*files}
    [first, second] = sorted(anew.pulls, key=lambda one: one.number)
    assert (first.head_sha, first.merged, second.draft) == (theirs, False, False)
    assert second.base_ref == place.branch and second.head_sha == anew.branches[anew.branch]


@pytest.mark.fault("N2")
async def test_a_conflict_with_what_a_person_pushed_is_named(town: Town) -> None:
    place = await town.order("conflict")
    await place.reach("while the agent works")
    place.push({"made.txt": "theirs"})
    await place.until_ended()
    record = await place.retry()
    assert record.error_code == "git_conflict" and "made.txt" in str(record.error_message)


@pytest.mark.fault("N2")
@pytest.mark.parametrize("change", ["rename", "transfer"])
async def test_a_repository_that_moves_is_followed(town: Town, change: str) -> None:
    place = await town.order(f"old-{change}")
    await place.reach("while the agent works")
    place.move(change)
    record = await place.until_ended()
    assert record.status == "completed", record.error_message
    assert not place.pull.draft and place.pull.head_sha == place.branches[place.branch]
    assert str(record.github_pull_request_url).endswith(f"{place.name}/pull/{place.pull.number}")
    await place.until_said(1, f"/{place.name}/pull/")


@pytest.mark.fault("D9")
async def test_what_could_not_be_delivered_is_said_before_an_agent_is_paid(town: Town) -> None:
    for installation in town.github.world.installations.values():
        installation.permissions["contents"] = "read"
    place = await town.order("read-only")
    record = await place.until_ended()
    assert record.error_code == "github_permission_missing"
    assert "contents: write" in str(record.error_message)
    checked = await town.follow(record.error_hint)
    assert "it was not granted contents: write" in checked and "/settings/installations/" in checked
    [plan] = [one for one in await place.tasks() if one["path"] == "plan"]
    assert plan["state"] == "failed" and plan["usage"] is None
    for installation in town.github.world.installations.values():
        installation.permissions["contents"] = "write"
    assert (await place.retry()).status == "completed"


@pytest.mark.fault("N1")
async def test_rolled_back_it_closes_its_own_whatever_its_text_is_now(town: Town) -> None:
    place = await town.order("back")
    await place.reach("after publish")
    place.act("PATCH", f"pulls/{place.pull.number}", {"body": "No marker here."})
    await place.roll_back()
    assert place.text.state == "closed" and list(place.branches) == ["main"]
