"""Pure: what a workflow is and how a run of one advances. No clock, chance, I/O or logging."""
