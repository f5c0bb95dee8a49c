"""Named SQL, one file per table group."""
