"""What goes out to people on GitHub: the progress of an order, replies to commands, feedback from
elsewhere. Each write is an intent in the ledger first."""
