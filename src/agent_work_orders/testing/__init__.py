"""Shipped stand-ins, fakes and conformance suites. Imported by the CLI and by tests only."""
