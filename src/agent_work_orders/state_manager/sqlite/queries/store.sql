-- name: find_entry
-- A ledger entry by key.
SELECT key, order_id, what, intent, intended_at_ms, receipt, received_at_ms FROM ledger
WHERE key = ?;

-- name: add_intent
-- Record an intent unless the key is there.
INSERT OR IGNORE INTO ledger (key, order_id, what, intent, intended_at_ms) VALUES (?, ?, ?, ?, ?);

-- name: add_receipt
-- Record the first receipt of an intent.
UPDATE ledger SET receipt = ?, received_at_ms = ? WHERE key = ? AND receipt IS NULL;

-- name: entries_of_order
-- The ledger of an order.
SELECT key, order_id, what, intent, intended_at_ms, receipt, received_at_ms FROM ledger
WHERE order_id = ? ORDER BY intended_at_ms, key;

-- name: all_entries
-- The whole ledger.
SELECT key, order_id, what, intent, intended_at_ms, receipt, received_at_ms FROM ledger;

-- name: unreceived_entries
-- Intents of a kind without a receipt, oldest first.
SELECT key, order_id, what, intent, intended_at_ms, receipt, received_at_ms FROM ledger
WHERE what = ? AND receipt IS NULL ORDER BY intended_at_ms, key;

-- name: put_artifact
-- List a piece of evidence; the same place is replaced.
INSERT OR REPLACE INTO artifacts (order_id, path, name, sha256, size_bytes, media_type,
    created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: artifacts_of_order
-- The evidence of an order.
SELECT order_id, path, name, sha256, size_bytes, media_type, created_at_ms FROM artifacts
WHERE order_id = ? ORDER BY created_at_ms, path, name;

-- name: add_version
-- A new version of a workflow, numbered after the last.
INSERT INTO workflow_versions (name, version, hash, source, plan, created_at_ms, created_by, origin)
VALUES (?1, 1 + coalesce((SELECT max(version) FROM workflow_versions WHERE name = ?1), 0),
    ?2, ?3, ?4, ?5, ?6, ?7)
RETURNING *;

-- name: version_with_hash
-- The newest version of a name with this content.
SELECT * FROM workflow_versions WHERE name = ? AND hash = ? ORDER BY version DESC LIMIT 1;

-- name: latest_version
-- The newest version of a name.
SELECT * FROM workflow_versions WHERE name = ? ORDER BY version DESC LIMIT 1;

-- name: get_version
-- One version of a name.
SELECT * FROM workflow_versions WHERE name = ? AND version = ?;

-- name: version_by_hash
-- The newest version of any name with this content.
SELECT * FROM workflow_versions WHERE hash = ? ORDER BY created_at_ms DESC, version DESC LIMIT 1;

-- name: version_history
-- All versions of a name, newest first.
SELECT * FROM workflow_versions WHERE name = ? ORDER BY version DESC;

-- name: latest_versions
-- The newest version of every name.
SELECT * FROM workflow_versions AS w WHERE version =
    (SELECT max(version) FROM workflow_versions WHERE name = w.name) ORDER BY name;

-- name: add_api_key
-- A new key.
INSERT INTO api_keys (key_id, name, role, secret_sha256, repositories, created_at_ms)
VALUES (?, ?, ?, ?, ?, ?);

-- name: get_api_key
-- A key with the hash of its secret.
SELECT key_id, name, role, repositories, created_at_ms, revoked_at_ms, last_used_at_ms,
    secret_sha256 FROM api_keys WHERE key_id = ?;

-- name: all_api_keys
-- Every key, revoked ones too.
SELECT key_id, name, role, repositories, created_at_ms, revoked_at_ms, last_used_at_ms,
    secret_sha256 FROM api_keys ORDER BY created_at_ms, key_id;

-- name: revoke_api_key
-- A key that must not work any more.
UPDATE api_keys SET revoked_at_ms = ? WHERE key_id = ? AND revoked_at_ms IS NULL;

-- name: use_api_key
-- Note when a key was last used.
UPDATE api_keys SET last_used_at_ms = ? WHERE key_id = ?;

-- name: audit_head
-- The number and chain of the last audit row, kept apart from the rows.
SELECT (SELECT value FROM meta WHERE name = 'audit_n'),
    (SELECT value FROM meta WHERE name = 'audit_chain');

-- name: put_meta
-- Keep a small value by name.
INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?);

-- name: add_audit
-- Append an audit row.
INSERT INTO audit (n, at_ms, who, what, order_id, target, details, chain)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: audit_after
-- Audit rows after a number; an empty order means all.
SELECT n, at_ms, who, what, order_id, target, details, chain FROM audit
WHERE n > ?1 AND (?2 = '' OR order_id = ?2) ORDER BY n LIMIT ?3;

-- name: put_branch
-- Where an order's branch stands now.
INSERT OR REPLACE INTO branches (order_id, repository, base_sha, head_sha) VALUES (?, ?, ?, ?);

-- name: get_branch
-- Where one order's branch stands.
SELECT order_id, repository, base_sha, head_sha FROM branches WHERE order_id = ?;

-- name: all_branches
-- Where every order's branch stands.
SELECT order_id, repository, base_sha, head_sha FROM branches ORDER BY order_id;

-- name: artifact_contents
-- The hash of every piece of evidence.
SELECT DISTINCT sha256 FROM artifacts ORDER BY sha256;
