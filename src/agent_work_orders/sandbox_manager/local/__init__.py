"""Sandboxes on this machine: a folder for each, and programs under a supervisor."""
