-- The read side. All of it can be made again from the journal, except approvals' place in the
-- feed and the idempotency keys, which only protect callers from doubling their requests.

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
) WITHOUT ROWID;

CREATE INDEX orders_by_creation ON orders (created_at_ms);
CREATE INDEX orders_by_status ON orders (status, created_at_ms);
CREATE INDEX orders_by_repository ON orders (repository, created_at_ms);

CREATE TABLE log_entries (
    order_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    level TEXT NOT NULL,
    event TEXT NOT NULL,
    fields TEXT NOT NULL,
    PRIMARY KEY (order_id, n)
) WITHOUT ROWID;

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
) WITHOUT ROWID;

CREATE INDEX approvals_of_order ON approvals (order_id, asked_at_ms);
CREATE INDEX approvals_asked ON approvals (asked_at_ms) WHERE state = 'asked';

CREATE TABLE idempotency_keys (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    order_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (caller, key)
) WITHOUT ROWID;

CREATE TABLE feed (
    n INTEGER PRIMARY KEY,
    order_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body BLOB NOT NULL
);
