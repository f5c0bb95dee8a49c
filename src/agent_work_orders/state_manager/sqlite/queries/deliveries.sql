-- name: known_deliveries
-- Those of a JSON list of ids that are there.
SELECT n, delivery_id, event, received_at_ms, attempts, outcome, why, settled_at_ms, body, checksum
FROM deliveries WHERE delivery_id IN (SELECT value FROM json_each(?));

-- name: last_delivery
-- The largest number that was given.
SELECT coalesce(max(n), 0) FROM deliveries;

-- name: forget_delivery
-- One makes room for itself: it came again and can be taken.
DELETE FROM deliveries WHERE n = ?;

-- name: add_deliveries
-- Keep deliveries that are not known, and say which they were.
INSERT OR IGNORE INTO deliveries (n, delivery_id, event, received_at_ms, attempts, outcome, why,
    settled_at_ms, body, checksum) VALUES (ROWS)
RETURNING delivery_id;

-- name: waiting_sizes
-- What is not handled yet after a number, in the order of arrival, with the size of its body.
SELECT n, length(body) FROM deliveries WHERE outcome IS NULL AND n > ? ORDER BY n LIMIT ?;

-- name: waiting_deliveries
-- What is not handled yet between two numbers.
SELECT n, delivery_id, event, received_at_ms, attempts, outcome, why, settled_at_ms, body, checksum
FROM deliveries WHERE outcome IS NULL AND n BETWEEN ? AND ? ORDER BY n;

-- name: count_waiting
-- How many are not handled yet.
SELECT count(*) FROM deliveries WHERE outcome IS NULL;

-- name: deliveries_by_number
-- Those of a JSON list of numbers.
SELECT n, delivery_id, event, received_at_ms, attempts, outcome, why, settled_at_ms, body, checksum
FROM deliveries WHERE n IN (SELECT value FROM json_each(?));

-- name: replace_deliveries
-- Another attempt, or what became of them.
INSERT OR REPLACE INTO deliveries (n, delivery_id, event, received_at_ms, attempts, outcome, why,
    settled_at_ms, body, checksum) VALUES (ROWS);

-- name: trim_deliveries
-- Forget settled ones that came before a time.
DELETE FROM deliveries WHERE outcome IS NOT NULL AND received_at_ms < ?;

-- name: page_deliveries
-- Deliveries before a number, newest first; an empty state means all.
SELECT n, delivery_id, event, received_at_ms, attempts, outcome, why, settled_at_ms, body, checksum
FROM deliveries WHERE n < ?1 AND (?2 = '' OR coalesce(outcome, 'waiting') = ?2)
ORDER BY n DESC LIMIT ?3;

-- name: last_said_about
-- When something was last said about a thing of a repository.
SELECT coalesce(max(at_ms), 0) FROM order_subjects WHERE repository_id = ? AND subject = ?;

-- name: add_subject
-- What an order is about; said once.
INSERT OR IGNORE INTO order_subjects (order_id, repository_id, subject, purpose, asked_by, at_ms,
    checksum) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: get_subject
-- What an order is about.
SELECT order_id, repository_id, subject, purpose, asked_by, at_ms, checksum FROM order_subjects
WHERE order_id = ?;

-- name: orders_about
-- Orders about a thing of a repository, newest first; an empty subject means all of them.
SELECT order_id, repository_id, subject, purpose, asked_by, at_ms, checksum FROM order_subjects
WHERE repository_id = ?1 AND (?2 = '' OR subject = ?2) ORDER BY at_ms DESC, order_id LIMIT ?3;
