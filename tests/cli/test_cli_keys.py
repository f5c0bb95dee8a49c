"""Keys made on the command line are made as those of the API are."""

from __future__ import annotations

from typing import Any

ORIGIN = "http://127.0.0.1:9"


def test_the_audit_row_names_the_repositories(awo: Any) -> None:
    repository = awo.repository()
    made = awo.inside(
        "key", "create", "bob", "--role", "viewer", "--repo", str(repository), "--json"
    )
    [key] = made.json["key"]["repositories"]
    [row] = awo.inside("audit", "list", "--json").json["entries"]
    assert (row["who"], row["what"]) == ("local", "key.create")
    assert row["details"] == {"name": "bob", "role": "viewer", "repositories": [key]}


def test_origins_that_the_operator_allows_are_honoured(awo: Any) -> None:
    wanted = ("key", "create", "bob", "--repo", f"{ORIGIN}/a/b.git", "--json")
    assert awo.inside(*wanted).code == 2
    made = awo.inside(*wanted, AWO_GIT_ORIGINS=ORIGIN)
    assert made.code == 0 and len(made.json["key"]["repositories"]) == 1, made.err
