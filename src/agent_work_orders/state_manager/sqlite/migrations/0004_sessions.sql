-- People who signed in with a browser. A holder is the id of an API key, or a mark of the local one.

CREATE TABLE sessions (
    secret_sha256 BLOB PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    holder TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    used_at_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX sessions_of_holder ON sessions (holder, used_at_ms);
