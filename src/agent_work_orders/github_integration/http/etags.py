"""Answers to ask about again: a conditional request that finds nothing new costs no quota.

Kept for each credential apart: what one may see is not another's. Bounded by count and by bytes;
the longest unused go first.
"""

from __future__ import annotations

from collections import OrderedDict

from agent_work_orders.github_integration.http.one_request import HttpAnswer

MOST = 2_000
MOST_BYTES = 32 * 1024 * 1024
LARGEST_BYTES = 2 * 1024 * 1024


class Etags:
    def __init__(self, *, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._kept: OrderedDict[tuple[str, str], HttpAnswer] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, credential: str, url: str) -> HttpAnswer | None:
        found = self._kept.get((credential, url))
        if found is not None:
            self._kept.move_to_end((credential, url))
        return found

    def put(self, credential: str, url: str, answer: HttpAnswer) -> None:
        self.drop(credential, url)
        size = len(answer.body)
        if answer.status != 200 or "etag" not in answer.headers or size > LARGEST_BYTES:
            return
        self._kept[credential, url] = answer
        self.bytes += size
        while len(self._kept) > self._most or self.bytes > self._most_bytes:
            _, oldest = self._kept.popitem(last=False)
            self.bytes -= len(oldest.body)

    def drop(self, credential: str, url: str) -> None:
        old = self._kept.pop((credential, url), None)
        if old is not None:
            self.bytes -= len(old.body)
