"""Everything the embedded server remembers, in one SQLite file with one writer."""
