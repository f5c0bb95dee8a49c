"""The default engine: one process, one SQLite journal, no server."""
