"""Who turns the crank: both engines drive the same machine and the same tools."""
