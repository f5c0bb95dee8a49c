-- name: put_orders
-- Add or replace lines of the list, unless the stored line knows more.
INSERT INTO orders (agent_work_order_id, repository_url, repository, git_branch_name, base_branch,
    sandbox_type, sandbox_identifier, workflow_type, workflow_version, github_issue_number,
    initial_prompt, title, task_type, priority, status, waiting_reason, waiting_until_ms,
    current_phase, agent_session_id, agent, created_by, created_at_ms, updated_at_ms,
    execution_started_at_ms, execution_completed_at_ms, github_pull_request_url, error_code,
    error_message, error_hint, cost_usd, warnings, run_seq, rolled_back,
    verification, verification_reason, cost_certainty, branch_offered, checksum)
VALUES (ROWS)
ON CONFLICT (agent_work_order_id) DO UPDATE SET
    repository_url = excluded.repository_url, repository = excluded.repository,
    git_branch_name = excluded.git_branch_name, base_branch = excluded.base_branch,
    sandbox_type = excluded.sandbox_type, sandbox_identifier = excluded.sandbox_identifier,
    workflow_type = excluded.workflow_type, workflow_version = excluded.workflow_version,
    github_issue_number = excluded.github_issue_number, initial_prompt = excluded.initial_prompt,
    title = excluded.title, task_type = excluded.task_type, priority = excluded.priority,
    status = excluded.status, waiting_reason = excluded.waiting_reason,
    waiting_until_ms = excluded.waiting_until_ms, current_phase = excluded.current_phase,
    agent_session_id = excluded.agent_session_id, agent = excluded.agent,
    created_by = excluded.created_by, created_at_ms = excluded.created_at_ms,
    updated_at_ms = excluded.updated_at_ms,
    execution_started_at_ms = excluded.execution_started_at_ms,
    execution_completed_at_ms = excluded.execution_completed_at_ms,
    github_pull_request_url = excluded.github_pull_request_url,
    error_code = excluded.error_code, error_message = excluded.error_message,
    error_hint = excluded.error_hint, cost_usd = excluded.cost_usd, warnings = excluded.warnings,
    run_seq = excluded.run_seq, rolled_back = excluded.rolled_back,
    verification = excluded.verification, verification_reason = excluded.verification_reason,
    cost_certainty = excluded.cost_certainty, branch_offered = excluded.branch_offered,
    checksum = excluded.checksum
WHERE excluded.run_seq >= orders.run_seq;

-- name: get_order
-- One line by id.
SELECT * FROM orders WHERE agent_work_order_id = ?;

-- name: ids_in_range
-- Ids from a prefix up to the end of its range.
SELECT agent_work_order_id FROM orders
WHERE agent_work_order_id >= ? AND agent_work_order_id < ? ORDER BY 1 LIMIT ?;

-- name: status_counts
-- How many orders have each status.
SELECT status, count(*) FROM orders GROUP BY status;

-- name: forget_orders
-- Empty the list before it is made again from the journal.
DELETE FROM orders;

-- name: forget_approvals
-- Empty the list of approvals before it is made again from the journal.
DELETE FROM approvals;

-- name: add_log_entries
-- Append log lines.
INSERT OR REPLACE INTO log_entries (order_id, n, at_ms, level, event, fields, checksum)
VALUES (ROWS);

-- name: last_log_entry
-- The number of an order's last log line.
SELECT coalesce(max(n), 0) FROM log_entries WHERE order_id = ?;

-- name: page_log_entries
-- A page of an order's log after a cursor, oldest first; an empty level or pattern means all.
SELECT order_id, n, at_ms, level, event, fields, checksum FROM log_entries
WHERE order_id = ?1 AND n > ?4 AND (?2 = '' OR level = ?2)
    AND (?3 = '' OR event LIKE ?3 ESCAPE '\' OR fields LIKE ?3 ESCAPE '\')
ORDER BY n LIMIT ?5 OFFSET ?6;

-- name: page_log_entries_newest
-- The same, newest first.
SELECT order_id, n, at_ms, level, event, fields, checksum FROM log_entries
WHERE order_id = ?1 AND n > ?4 AND (?2 = '' OR level = ?2)
    AND (?3 = '' OR event LIKE ?3 ESCAPE '\' OR fields LIKE ?3 ESCAPE '\')
ORDER BY n DESC LIMIT ?5 OFFSET ?6;

-- name: count_log_entries
-- How many lines of an order's log match; an empty level or pattern means all.
SELECT count(*) FROM log_entries WHERE order_id = ?1 AND (?2 = '' OR level = ?2)
    AND (?3 = '' OR event LIKE ?3 ESCAPE '\' OR fields LIKE ?3 ESCAPE '\');

-- name: count_log_entries_after
-- The last number of an order's log and how many lines it has after a cursor.
SELECT max(n), count(*) FROM log_entries WHERE order_id = ? AND n > ?;

-- name: log_entries_after
-- An order's log after a cursor.
SELECT order_id, n, at_ms, level, event, fields, checksum FROM log_entries
WHERE order_id = ? AND n > ? ORDER BY n LIMIT ?;

-- name: add_approval
-- Ask; the same approval again changes nothing.
INSERT OR IGNORE INTO approvals (approval_id, order_id, run_id, path, message, subject,
    subject_hash, state, asked_at_ms, expires_at_ms, decided_by, comment, decided_at_ms, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: forget_approval
-- Make room for a line that was damaged.
DELETE FROM approvals WHERE approval_id = ?;

-- name: get_approval
-- One approval by id.
SELECT * FROM approvals WHERE approval_id = ?;

-- name: put_approval
-- What is asked, with its answer.
INSERT OR REPLACE INTO approvals (approval_id, order_id, run_id, path, message, subject,
    subject_hash, state, asked_at_ms, expires_at_ms, decided_by, comment, decided_at_ms, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: approvals_of_order
-- What was asked for an order, oldest first.
SELECT * FROM approvals WHERE order_id = ? ORDER BY asked_at_ms, approval_id;

-- name: asked_approvals
-- What is still open, oldest first.
SELECT * FROM approvals WHERE state = 'asked' ORDER BY asked_at_ms, approval_id LIMIT ?;

-- name: claim_key
-- Take an idempotency key if nobody has it.
INSERT OR IGNORE INTO idempotency_keys (caller, key, body_hash, order_id, at_ms, checksum)
VALUES (?, ?, ?, ?, ?, ?);

-- name: find_key
-- Who has an idempotency key.
SELECT caller, key, body_hash, order_id, at_ms, checksum FROM idempotency_keys WHERE caller = ? AND key = ?;

-- name: old_keys
-- Keys from before a moment, whole: only those that hold are forgotten.
SELECT caller, key, body_hash, order_id, at_ms, checksum FROM idempotency_keys WHERE at_ms < ?;

-- name: forget_key
-- One of them.
DELETE FROM idempotency_keys WHERE caller = ? AND key = ?;

-- name: add_feed
-- Append to the feed.
INSERT OR IGNORE INTO feed (n, order_id, kind, at_ms, body, checksum) VALUES (ROWS);

-- name: feed_after
-- The feed after a cursor; an empty order means all.
SELECT n, order_id, kind, at_ms, body, checksum FROM feed
WHERE n > ?1 AND (?2 = '' OR order_id = ?2) ORDER BY n LIMIT ?3;

-- name: feed_oldest
-- The first number still kept.
SELECT coalesce(min(n), 0) FROM feed;

-- name: trim_feed
-- Drop all but the newest rows.
DELETE FROM feed WHERE n <= (SELECT n FROM feed ORDER BY n DESC LIMIT 1 OFFSET ?);
