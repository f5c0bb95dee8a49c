"""What is remembered: journal, records, ledger, artifacts, keys, audit."""
