"""Use cases: what people and machines can do with work orders. One module per verb family."""
