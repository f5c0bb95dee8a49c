"""Reads the `.sql` files: each query has a name and says what it is for.

-- name: find_thing
-- The thing of that name, if there is one.
SELECT …;
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from agent_work_orders.errors import Broken

_QUERY = re.compile(
    r"^-- name: (?P<name>\w+)\n(?P<why>(?:-- .+\n)+)(?P<sql>(?:(?!-- name:).*\n)+)", re.MULTILINE
)


@cache
def queries(group: str) -> dict[str, str]:
    """Every query of `queries/<group>.sql` by name."""
    text = (resources.files(__package__) / "queries" / f"{group}.sql").read_text("utf-8")
    found = {m["name"]: m["sql"].strip().rstrip(";") for m in _QUERY.finditer(text)}
    if len(found) != text.count("-- name:"):
        raise Broken("query_unnamed", f"{group}.sql has a query without a name or a description")
    return found
