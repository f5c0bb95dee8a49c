-- Secrets of the operator, sealed (security/vault.py): without the key there is nothing to read.

CREATE TABLE credentials (
    name TEXT PRIMARY KEY,
    sealed BLOB NOT NULL,
    last4 TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL
) WITHOUT ROWID;
