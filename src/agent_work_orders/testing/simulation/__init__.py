"""Deterministic simulation of the embedded engine: one seed is one history of faults.

The real engine, machine and performer run on a loop whose time is a number, over ports that fail as
real ones do. A process dies at a boundary (before or after a write) and the next life goes on from
what was durable. `python -m agent_work_orders.testing.simulation` runs seeds.
"""
