-- Webhook deliveries, and which orders came from which event. A body stays until it was handled,
-- that of a failed one until it is trimmed, so that a person can have it tried again.

CREATE TABLE deliveries (
    n INTEGER PRIMARY KEY,
    delivery_id TEXT NOT NULL UNIQUE,
    event TEXT NOT NULL,
    received_at_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    outcome TEXT CHECK (outcome IN ('handled', 'ignored', 'failed')),
    why TEXT NOT NULL DEFAULT '',
    settled_at_ms INTEGER,
    body BLOB
);

CREATE INDEX deliveries_waiting ON deliveries (n) WHERE outcome IS NULL;
CREATE INDEX deliveries_settled ON deliveries (received_at_ms) WHERE outcome IS NOT NULL;

CREATE TABLE order_subjects (
    order_id TEXT PRIMARY KEY,
    repository_id INTEGER NOT NULL,
    subject TEXT NOT NULL,
    purpose TEXT NOT NULL,
    asked_by TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX order_subjects_of ON order_subjects (repository_id, subject, at_ms);
