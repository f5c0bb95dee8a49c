-- name: find_entry
-- A ledger entry by key.
SELECT key, order_id, what, intent, intended_at_ms, receipt, received_at_ms, checksum
FROM ledger
WHERE key = ?;

-- name: add_intent
-- Record an intent unless the key is there.
INSERT OR IGNORE INTO ledger (key, order_id, what, intent, intended_at_ms, receipt, received_at_ms,
    checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_receipt
-- Record the receipt of an intent.
UPDATE ledger SET receipt = ?, received_at_ms = ?, checksum = ? WHERE key = ?;

-- name: entries_of_order
-- The ledger of an order.
SELECT key, order_id, what, intent, intended_at_ms, receipt, received_at_ms, checksum
FROM ledger
WHERE order_id = ? ORDER BY intended_at_ms, key;

-- name: unreceived_entries
-- Intents of a kind without a receipt, oldest first.
SELECT key, order_id, what, intent, intended_at_ms, receipt, received_at_ms, checksum
FROM ledger
WHERE what = ? AND receipt IS NULL ORDER BY intended_at_ms, key;

-- name: put_artifact
-- List a piece of evidence; the same place is replaced.
INSERT OR REPLACE INTO artifacts (order_id, path, name, sha256, size_bytes, media_type,
    created_at_ms, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: artifacts_of_order
-- The evidence of an order.
SELECT order_id, path, name, sha256, size_bytes, media_type, created_at_ms, checksum FROM artifacts
WHERE order_id = ? ORDER BY created_at_ms, path, name;

-- name: add_version
-- A new version of a workflow.
INSERT INTO workflow_versions (name, version, hash, source, plan, created_at_ms, created_by, origin,
    checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: last_version
-- The number of a name's newest version.
SELECT coalesce(max(version), 0) FROM workflow_versions WHERE name = ?;

-- name: version_with_hash
-- The versions of a name with this content, newest first.
SELECT * FROM workflow_versions WHERE name = ? AND hash = ? ORDER BY version DESC;

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

-- name: put_api_key
-- A new key, or what is new about a known one.
INSERT OR REPLACE INTO api_keys (key_id, name, role, secret_sha256, repositories, created_at_ms,
    revoked_at_ms, last_used_at_ms, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: get_api_key
-- A key with the hash of its secret.
SELECT key_id, name, role, secret_sha256, repositories, created_at_ms, revoked_at_ms,
    last_used_at_ms, checksum FROM api_keys WHERE key_id = ?;

-- name: all_api_keys
-- Every key, revoked ones too.
SELECT key_id, name, role, secret_sha256, repositories, created_at_ms, revoked_at_ms,
    last_used_at_ms, checksum FROM api_keys ORDER BY created_at_ms, key_id;

-- name: last_audit
-- The number and chain of the last audit row that is there.
SELECT n, chain FROM audit ORDER BY n DESC LIMIT 1;

-- name: add_audit
-- Append an audit row.
INSERT INTO audit (n, at_ms, who, what, order_id, target, details, chain, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: audit_after
-- Audit rows after a number; an empty order means all.
SELECT n, at_ms, who, what, order_id, target, details, chain, checksum FROM audit
WHERE n > ?1 AND (?2 = '' OR order_id = ?2) ORDER BY n LIMIT ?3;

-- name: put_branch
-- Where an order's branch stands now.
INSERT OR REPLACE INTO branches (order_id, repository, base_sha, head_sha, checksum)
VALUES (?, ?, ?, ?, ?);

-- name: get_branch
-- Where one order's branch stands.
SELECT order_id, repository, base_sha, head_sha, checksum FROM branches WHERE order_id = ?;

-- name: all_branches
-- Where every order's branch stands.
SELECT order_id, repository, base_sha, head_sha, checksum FROM branches ORDER BY order_id;

-- name: artifact_contents
-- The hash of every piece of evidence.
SELECT DISTINCT sha256 FROM artifacts ORDER BY sha256;
