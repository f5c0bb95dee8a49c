"""The `awo` command: serves, drives and shows work orders.

Modules are light at the top: `awo --help` imports typer and nothing else of weight. Whatever a
command needs, it imports when it runs.
"""
