"""What a run of Claude Code has used so far, from its messages as they stream by. Pure.

The blocks of one message repeat its id. Its first count has a placeholder of one output token; the
true number comes with the message's end (`message_delta`), if it comes. So each message counts with
the most that was said of it, and one that was cut off with what it had been given: its tokens were
served, but it is no turn.
"""

from __future__ import annotations

from agent_work_orders.agent_executor.prices import Tokens, cost_usd
from agent_work_orders.workflow_engine.events import Usage

# Names only a few at a time: older messages are finished, and only their sum matters.
OPEN_LIMIT = 64
MODEL_LIMIT_CHARS = 128


class Meter:
    def __init__(self) -> None:
        self._finished = Usage()
        self._open: dict[str, tuple[str, Tokens, bool]] = {}
        self._model = ""

    def see(self, message_id: str, model: str, tokens: Tokens, *, said: bool) -> bool:
        """Whether it changed anything. `said`: some of the message has come."""
        known = self._open.get(message_id)
        if known is None and len(self._open) >= OPEN_LIMIT:
            oldest = next(iter(self._open))
            self._finished = self._finished.plus(_priced(*self._open.pop(oldest)))
        name = model[:MODEL_LIMIT_CHARS] or (known[0] if known else self._model)
        counted = (name, tokens, said)
        if known is not None:
            counted = (name, known[1].most(tokens), said or known[2])
        self._model = name
        self._open[message_id] = counted
        return counted != known

    @property
    def last_id(self) -> str:
        return next(reversed(self._open), "")

    def usage(self) -> Usage:
        total = self._finished
        for model, tokens, said in self._open.values():
            total = total.plus(_priced(model, tokens, said))
        return total


def _priced(model: str, tokens: Tokens, said: bool) -> Usage:
    cost = cost_usd(model, tokens)
    return Usage(
        cost_usd=cost or 0.0,
        estimated_usd=cost or 0.0,
        unpriced_turns=int(cost is None),
        input_tokens=tokens.input + tokens.cache_write + tokens.cache_read,
        output_tokens=tokens.output,
        turns=int(said),
        model=model,
    )
