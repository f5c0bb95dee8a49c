"""Sockets, credentials, limits, faults, git over HTTP, deliveries."""
