"""Where agents and tests run: one protocol, one small file per kind of sandbox."""
