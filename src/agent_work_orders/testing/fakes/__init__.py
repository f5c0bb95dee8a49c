"""Small in-process implementations of the contracts, for tests and rehearsals."""
