-- name: all_credentials
-- Every kept one, by name.
SELECT name, sealed, last4, changed_at_ms, checksum FROM credentials ORDER BY name;

-- name: put_credential
-- A new one, or another secret or seal under a known name.
INSERT OR REPLACE INTO credentials (name, sealed, last4, changed_at_ms, checksum)
VALUES (?, ?, ?, ?, ?);

-- name: delete_credential
-- It is gone for good.
DELETE FROM credentials WHERE name = ?;
