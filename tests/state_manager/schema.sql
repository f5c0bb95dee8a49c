CREATE INDEX approvals_asked ON approvals (asked_at_ms) WHERE state = 'asked';

CREATE INDEX approvals_of_order ON approvals (order_id, asked_at_ms);

CREATE INDEX artifacts_by_content ON artifacts (sha256);

CREATE INDEX audit_of_order ON audit (order_id, n) WHERE order_id IS NOT NULL;

CREATE INDEX deliveries_settled ON deliveries (received_at_ms) WHERE outcome IS NOT NULL;

CREATE INDEX deliveries_waiting ON deliveries (n) WHERE outcome IS NULL;

CREATE UNIQUE INDEX events_of_run ON events (run, seq);

CREATE INDEX ledger_of_order ON ledger (order_id, intended_at_ms);

CREATE INDEX ledger_unreceived ON ledger (what, intended_at_ms) WHERE receipt IS NULL;

CREATE INDEX order_subjects_of ON order_subjects (repository_id, subject, at_ms);

CREATE INDEX orders_by_creation ON orders (created_at_ms);

CREATE INDEX orders_by_repository ON orders (repository, created_at_ms);

CREATE INDEX orders_by_status ON orders (status, created_at_ms);

CREATE INDEX runs_open ON runs (run) WHERE ended = 0;

CREATE INDEX sessions_of_holder ON sessions (holder, used_at_ms);

CREATE INDEX workflow_versions_by_hash ON workflow_versions (hash);

CREATE TABLE api_keys (
    key_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'approver', 'admin')),
    secret_sha256 BLOB NOT NULL,
    repositories TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    revoked_at_ms INTEGER,
    last_used_at_ms INTEGER
, checksum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE approvals (
    approval_id TEXT PRIMARY KEY,
    order_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    path TEXT NOT NULL,
    message TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_hash TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('asked', 'approved', 'rejected', 'expired', 'void')),
    asked_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    decided_by TEXT,
    comment TEXT,
    decided_at_ms INTEGER
, checksum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE artifacts (
    order_id TEXT NOT NULL,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL, checksum INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (order_id, path, name)
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
, checksum INTEGER NOT NULL DEFAULT 0);

CREATE TABLE branches (
    order_id TEXT PRIMARY KEY,
    repository TEXT NOT NULL,
    base_sha TEXT NOT NULL,
    head_sha TEXT NOT NULL
, checksum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE credentials (
    name TEXT PRIMARY KEY,
    sealed BLOB NOT NULL,
    last4 TEXT NOT NULL,
    changed_at_ms INTEGER NOT NULL
, checksum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

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
, checksum INTEGER NOT NULL DEFAULT 0);

CREATE TABLE effects (
    run INTEGER NOT NULL,
    effect_id TEXT NOT NULL,
    body BLOB NOT NULL,
    lease INTEGER, checksum INTEGER,
    PRIMARY KEY (run, effect_id)
) WITHOUT ROWID;

CREATE TABLE events (
    n INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL,
    chain BLOB NOT NULL
);

CREATE TABLE feed (
    n INTEGER PRIMARY KEY,
    order_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body BLOB NOT NULL
, checksum INTEGER NOT NULL DEFAULT 0);

CREATE TABLE idempotency_keys (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    order_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL, checksum INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (caller, key)
) WITHOUT ROWID;

CREATE TABLE ledger (
    key TEXT PRIMARY KEY,
    order_id TEXT NOT NULL,
    what TEXT NOT NULL,
    intent TEXT NOT NULL,
    intended_at_ms INTEGER NOT NULL,
    receipt TEXT,
    received_at_ms INTEGER
, checksum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE log_entries (
    order_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    level TEXT NOT NULL,
    event TEXT NOT NULL,
    fields TEXT NOT NULL, checksum INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (order_id, n)
) WITHOUT ROWID;

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value
, checksum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE order_subjects (
    order_id TEXT PRIMARY KEY,
    repository_id INTEGER NOT NULL,
    subject TEXT NOT NULL,
    purpose TEXT NOT NULL,
    asked_by TEXT NOT NULL,
    at_ms INTEGER NOT NULL
, checksum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE orders (
    agent_work_order_id TEXT PRIMARY KEY,
    repository_url TEXT NOT NULL,
    repository TEXT NOT NULL,
    git_branch_name TEXT,
    base_branch TEXT,
    sandbox_type TEXT NOT NULL,
    sandbox_identifier TEXT,
    workflow_type TEXT NOT NULL,
    workflow_version TEXT NOT NULL,
    github_issue_number TEXT,
    initial_prompt TEXT,
    title TEXT,
    task_type TEXT NOT NULL,
    priority TEXT NOT NULL,
    status TEXT NOT NULL,
    waiting_reason TEXT,
    waiting_until_ms INTEGER,
    current_phase TEXT,
    agent_session_id TEXT,
    agent TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    execution_started_at_ms INTEGER,
    execution_completed_at_ms INTEGER,
    github_pull_request_url TEXT,
    error_code TEXT,
    error_message TEXT,
    error_hint TEXT,
    cost_usd REAL NOT NULL,
    warnings TEXT NOT NULL,
    run_seq INTEGER NOT NULL
, rolled_back INTEGER NOT NULL DEFAULT 0, verification TEXT, verification_reason TEXT, cost_certainty TEXT NOT NULL DEFAULT 'exact', branch_offered INTEGER NOT NULL DEFAULT 0, checksum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE plans (
    hash TEXT PRIMARY KEY,
    body BLOB NOT NULL,
    checksum BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE quota (
    credential TEXT PRIMARY KEY,
    state TEXT NOT NULL
, checksum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    ended INTEGER NOT NULL,
    head_seq INTEGER NOT NULL,
    head_chain BLOB NOT NULL,
    plan_hash TEXT
, owed_effects INTEGER, owed_timers INTEGER, checksum INTEGER NOT NULL DEFAULT 0);

CREATE TABLE schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at_ms INTEGER NOT NULL);

CREATE TABLE sessions (
    secret_sha256 BLOB PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    holder TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    used_at_ms INTEGER NOT NULL
, checksum INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

CREATE TABLE snapshots (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    body BLOB NOT NULL,
    checksum BLOB NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;

CREATE TABLE timers (
    run INTEGER NOT NULL,
    timer TEXT NOT NULL,
    at_ms INTEGER NOT NULL, checksum INTEGER,
    PRIMARY KEY (run, timer)
) WITHOUT ROWID;

CREATE TABLE workflow_versions (
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    hash TEXT NOT NULL,
    source TEXT NOT NULL,
    plan BLOB NOT NULL,
    created_at_ms INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('builtin', 'user', 'repository')), checksum INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (name, version)
) WITHOUT ROWID;

CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER workflow_versions_are_kept BEFORE DELETE ON workflow_versions
BEGIN SELECT raise(ABORT, 'workflow versions are immutable'); END;

CREATE TRIGGER workflow_versions_stay BEFORE UPDATE ON workflow_versions
BEGIN SELECT raise(ABORT, 'workflow versions are immutable'); END;
