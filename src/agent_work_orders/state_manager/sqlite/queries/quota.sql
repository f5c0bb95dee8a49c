-- name: all_quota
-- What is known of every credential.
SELECT credential, state, checksum FROM quota ORDER BY credential;

-- name: put_quota
-- What is known of a credential now.
INSERT OR REPLACE INTO quota (credential, state, checksum) VALUES (?, ?, ?);
