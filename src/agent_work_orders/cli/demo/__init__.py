"""The demonstration's material: a sample repository, an issue, and the script of its agent."""
