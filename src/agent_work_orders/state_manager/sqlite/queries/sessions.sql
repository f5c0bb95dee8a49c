-- name: add_session
-- Somebody signed in.
INSERT INTO sessions (secret_sha256, session_id, holder, created_at_ms, used_at_ms, checksum)
VALUES (?, ?, ?, ?, ?, ?);

-- name: get_session
-- A session by the hash of its secret, with the key that holds it (nulls for the local operator).
SELECT s.secret_sha256, s.session_id, s.holder, s.created_at_ms, s.used_at_ms, s.checksum,
    k.key_id, k.name, k.role, k.secret_sha256, k.repositories, k.created_at_ms, k.revoked_at_ms,
    k.last_used_at_ms, k.checksum
FROM sessions AS s LEFT JOIN api_keys AS k ON k.key_id = s.holder
WHERE s.secret_sha256 = ?;

-- name: find_session
-- A session by its id.
SELECT secret_sha256, session_id, holder, created_at_ms, used_at_ms, checksum FROM sessions
WHERE session_id = ?;

-- name: use_session
-- Note when a session was last used.
UPDATE sessions SET used_at_ms = ?, checksum = ? WHERE session_id = ?;

-- name: end_session
-- Somebody signed out.
DELETE FROM sessions WHERE session_id = ?;

-- name: forget_expired
-- Drop what was unused since a time, or was made before another.
DELETE FROM sessions WHERE used_at_ms <= ? OR created_at_ms <= ?;

-- name: forget_unused
-- Of a holder keep only the most recently used.
DELETE FROM sessions WHERE holder = ?1 AND session_id NOT IN
    (SELECT session_id FROM sessions WHERE holder = ?1
     ORDER BY used_at_ms DESC, session_id LIMIT ?2);
