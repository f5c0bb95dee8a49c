"""Rules and protocols of safety: no tables, no I/O of their own."""
