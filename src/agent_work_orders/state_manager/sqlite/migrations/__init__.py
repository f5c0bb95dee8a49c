"""Plain SQL, one file per step, never changed once released."""
