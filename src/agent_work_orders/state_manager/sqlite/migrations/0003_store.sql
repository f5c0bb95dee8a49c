-- What outlives single runs: writes to the world, evidence, workflow versions, keys, audit.

CREATE TABLE ledger (
    key TEXT PRIMARY KEY,
    order_id TEXT NOT NULL,
    what TEXT NOT NULL,
    intent TEXT NOT NULL,
    intended_at_ms INTEGER NOT NULL,
    receipt TEXT,
    received_at_ms INTEGER
) WITHOUT ROWID;

CREATE INDEX ledger_of_order ON ledger (order_id, intended_at_ms);

CREATE TABLE artifacts (
    order_id TEXT NOT NULL,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (order_id, path, name)
) WITHOUT ROWID;

CREATE INDEX artifacts_by_content ON artifacts (sha256);

CREATE TABLE workflow_versions (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    hash TEXT NOT NULL,
    source TEXT NOT NULL,
    plan BLOB NOT NULL,
    created_at_ms INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('builtin', 'user', 'repository')),
    PRIMARY KEY (name, version)
) WITHOUT ROWID;

CREATE INDEX workflow_versions_by_hash ON workflow_versions (hash);

CREATE TRIGGER workflow_versions_stay BEFORE UPDATE ON workflow_versions
BEGIN SELECT raise(ABORT, 'workflow versions are immutable'); END;

CREATE TRIGGER workflow_versions_are_kept BEFORE DELETE ON workflow_versions
BEGIN SELECT raise(ABORT, 'workflow versions are immutable'); END;

CREATE TABLE api_keys (
    key_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'approver', 'admin')),
    secret_sha256 BLOB NOT NULL,
    repositories TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    revoked_at_ms INTEGER,
    last_used_at_ms INTEGER
) WITHOUT ROWID;

CREATE TABLE audit (
    n INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    order_id TEXT,
    target TEXT NOT NULL,
    details TEXT NOT NULL,
    chain BLOB NOT NULL
);

CREATE INDEX audit_of_order ON audit (order_id, n) WHERE order_id IS NOT NULL;

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
