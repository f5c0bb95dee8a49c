"""A GitHub on loopback: faithful enough that it refuses what GitHub refuses."""
