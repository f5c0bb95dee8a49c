"""Checks: found by our App and key, annotated in batches, never twice."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from scripted import LOGIN, REPOSITORY, made

from agent_work_orders.github_integration.forge import Annotation, Check

HEAD = "1" * 40


def check(annotations: int = 0) -> Check:
    told = [
        Annotation(path="a.py", start_line=n, end_line=n, level="warning", message=f"m{n}")
        for n in range(1, annotations + 1)
    ]
    return Check(
        name="AWO", head_sha=HEAD, title="T", summary="S", conclusion="success", annotations=told
    )


@pytest.mark.fault("D13")
async def test_annotations_go_in_batches_of_fifty() -> None:
    forge, transport, _ = made({"POST check-runs": {"id": 7}, "PATCH check-runs/7": {"id": 7}})
    assert await forge.add_check(REPOSITORY, check(120), "k") == 7
    [first] = transport.bodies("POST check-runs")
    rest = transport.bodies("PATCH check-runs/7")
    sizes = [len(body["output"]["annotations"]) for body in (first, *rest)]
    assert sizes == [50, 50, 20]
    said = [one["message"] for body in (first, *rest) for one in body["output"]["annotations"]]
    assert said == [f"m{n}" for n in range(1, 121)]
    assert (first["external_id"], first["status"], first["conclusion"]) == (
        "k",
        "completed",
        "success",
    )
    assert all(body["output"]["title"] == "T" and body["output"]["summary"] for body in rest)


async def test_an_edit_adds_only_the_annotations_that_are_missing() -> None:
    there = {"id": 7, "output": {"annotations_count": 50}}
    forge, transport, _ = made({"GET check-runs/7": there, "PATCH check-runs/7": {"id": 7}})
    await forge.edit_check(REPOSITORY, 7, check(60), "k")
    [body] = transport.bodies("PATCH check-runs/7")
    assert [one["message"] for one in body["output"]["annotations"]] == [
        f"m{n}" for n in range(51, 61)
    ]
    running = msgspec.structs.replace(check(), conclusion=None)
    await forge.edit_check(REPOSITORY, 7, running, "k")
    last = transport.bodies("PATCH check-runs/7")[-1]
    assert last["status"] == "in_progress" and "conclusion" not in last
    assert "annotations" not in last["output"]


@pytest.mark.fault("D13")
async def test_texts_and_annotations_are_bounded() -> None:
    forge, transport, _ = made({"POST check-runs": {"id": 7}, "PATCH check-runs/7": {"id": 7}})
    odd = Annotation(
        path="a", start_line=0, end_line=-5, level="failure", message="\0" * 9, title="t" * 999
    )
    long = msgspec.structs.replace(
        check(1_001), title="", summary="s" * 99_999, text="![x](https://evil.example)"
    )
    long = msgspec.structs.replace(long, annotations=[odd, *long.annotations])
    await forge.add_check(REPOSITORY, long, "k")
    [first] = transport.bodies("POST check-runs")
    output = first["output"]
    assert len(output["summary"]) <= 65_535
    assert output["summary"].endswith("1000 of 1002 annotations are shown.")
    assert output["title"] == "AWO" and "https://evil" not in output["text"]
    one = output["annotations"][0]
    assert (one["start_line"], one["end_line"], len(one["title"])) == (1, 1, 255)
    assert one["message"] == "(no message)"
    assert len(transport.asked) == 20


async def test_only_our_apps_check_is_found() -> None:
    runs = [
        {"id": 1, "external_id": "k", "app": {"slug": "mallory"}},
        {"id": 2, "external_id": "other", "app": {"slug": "awo"}},
        {"id": 3, "external_id": "k", "app": None},
        {"id": 4, "external_id": "k", "app": {"slug": "awo"}},
    ]
    forge, transport, _ = made({f"GET commits/{HEAD}/check-runs": runs})
    assert await forge.find_check(REPOSITORY, HEAD, "k") == 4
    assert transport.asked[0][1] == {"filter": "all"}
    assert await forge.find_check(REPOSITORY, HEAD, "x") is None


async def test_a_status_is_one_short_line() -> None:
    statuses = f"GET commits/{HEAD}/statuses"
    forge, transport, _ = made({f"POST statuses/{HEAD}": {}, statuses: []})
    await forge.set_status(
        REPOSITORY, HEAD, context="awo", state="success", description="d\n" * 100
    )
    [body] = transport.bodies(f"POST statuses/{HEAD}")
    assert len(body["description"]) == 140 and "\n" not in body["description"]
    assert "target_url" not in body


@pytest.mark.parametrize(
    ("change", "sent"),
    [
        ({}, 0),
        ({"state": "failure"}, 1),
        ({"description": "other"}, 1),
        ({"target_url": "https://x"}, 1),
        ({"creator": {"login": "other"}}, 1),
        ({"context": "other"}, 1),
    ],
)
async def test_a_status_that_stands_is_not_set_again(change: dict[str, Any], sent: int) -> None:
    ours = {"context": "awo", "state": "success", "description": "d", "creator": {"login": LOGIN}}
    older = {**ours, "state": "pending"}
    statuses = {f"GET commits/{HEAD}/statuses": [{**ours, **change}, older]}
    forge, transport, _ = made({f"POST statuses/{HEAD}": {}, **statuses})
    await forge.set_status(REPOSITORY, HEAD, context="awo", state="success", description="d")
    assert len(transport.bodies(f"POST statuses/{HEAD}")) == sent
