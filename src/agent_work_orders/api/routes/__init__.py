"""One module per subject, each with a `router`."""
