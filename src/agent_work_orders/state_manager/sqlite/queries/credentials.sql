-- name: all_credentials
-- Every kept one, by name.
SELECT name, sealed, last4, changed_at_ms FROM credentials ORDER BY name;

-- name: put_credential
-- A new one, or another secret under a known name.
INSERT INTO credentials (name, sealed, last4, changed_at_ms) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, last4 = excluded.last4,
    changed_at_ms = excluded.changed_at_ms;

-- name: reseal_credential
-- The same secret under another key; nothing if it was changed meanwhile.
UPDATE credentials SET sealed = ? WHERE name = ? AND sealed = ?;

-- name: delete_credential
-- It is gone for good.
DELETE FROM credentials WHERE name = ?;
