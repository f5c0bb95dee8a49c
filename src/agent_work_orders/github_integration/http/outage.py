"""When a hub's host counts as down, and how long it is left alone: asking again helps nobody."""

from __future__ import annotations

from agent_work_orders.recovery.breaker import Policy

FAILURES = 8
"""In a row, of any credential. A read is tried three times: two or three of those."""
FIRST_S = 15.0
LONGEST_S = 300.0
PROBE_S = 35.0
"""A request's deadline and a little: a probe that said nothing by then is given up."""

OUTAGE = Policy(
    failures=FAILURES,
    first_ms=int(FIRST_S * 1000),
    longest_ms=int(LONGEST_S * 1000),
    probe_ms=int(PROBE_S * 1000),
)
