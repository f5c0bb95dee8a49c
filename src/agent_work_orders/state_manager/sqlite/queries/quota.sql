-- name: all_quota
-- What is known of every credential.
SELECT state FROM quota ORDER BY credential;

-- name: put_quota
-- What is known of a credential now.
INSERT INTO quota (credential, state) VALUES (?, ?)
ON CONFLICT (credential) DO UPDATE SET state = excluded.state;
