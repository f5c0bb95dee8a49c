"""What a model's tokens cost, for turns whose agent did not live to say it. Pure.

List prices as Claude Code 2.1 itself reckons with them; a test asks the real program. What is
reckoned here is an estimate and is called so; a model that is not listed has no known price.
"""

from __future__ import annotations

import msgspec

# By the beginning of the model's name: USD per million input tokens, and what reading the cache
# costs of that.
PRICES: tuple[tuple[str, float, float], ...] = (
    ("claude-opus-5-5", 4.0, 0.05),
    ("claude-opus-4-6", 5.0, 0.1),
    ("claude-opus-4-5", 5.0, 0.1),
    ("claude-sonnet-5-5", 2.0, 0.05),
    ("claude-sonnet-4", 3.0, 0.1),
    ("claude-haiku-5-5", 0.1, 0.1),
    ("claude-haiku-4-5", 1.0, 0.1),
)
# Of the price of input, the same for all of them.
OUTPUT = 5.0
CACHE_WRITE = 1.25


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    input: int = 0
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0

    def most(self, other: Tokens) -> Tokens:
        """A message is counted again while it grows; each count is at least the one before."""
        return Tokens(
            input=max(self.input, other.input),
            cache_write=max(self.cache_write, other.cache_write),
            cache_read=max(self.cache_read, other.cache_read),
            output=max(self.output, other.output),
        )


def cost_usd(model: str, tokens: Tokens) -> float | None:
    """None when the model's price is not known."""
    for name, price, cache_read in PRICES:
        if model.startswith(name):
            weighed = (
                tokens.input
                + OUTPUT * tokens.output
                + cache_read * tokens.cache_read
                + CACHE_WRITE * tokens.cache_write
            )
            return weighed * price / 1_000_000
    return None
