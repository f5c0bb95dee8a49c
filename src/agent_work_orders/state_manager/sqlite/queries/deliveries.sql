-- name: known_delivery
-- Whether a delivery was taken before.
SELECT delivery_id FROM deliveries
WHERE delivery_id = ? AND NOT (coalesce(outcome, '') = 'failed' AND body IS NULL);

-- name: forget_noted
-- What was only noted makes room for itself, by a JSON list of ids: it came again and can be taken.
DELETE FROM deliveries WHERE outcome = 'failed' AND body IS NULL
    AND delivery_id IN (SELECT value FROM json_each(?));

-- name: add_deliveries
-- Keep deliveries that are not known, and say which they were.
INSERT OR IGNORE INTO deliveries (delivery_id, event, received_at_ms, body) VALUES (ROWS)
RETURNING delivery_id;

-- name: note_delivery
-- A delivery that was settled before it was kept: without its body.
INSERT OR IGNORE INTO deliveries (delivery_id, event, received_at_ms, outcome, why, settled_at_ms)
VALUES (?, ?, ?, ?, ?, ?);

-- name: waiting_sizes
-- What is not handled yet after a number, in the order of arrival, with the size of its body.
SELECT n, length(body) FROM deliveries WHERE outcome IS NULL AND n > ? ORDER BY n LIMIT ?;

-- name: waiting_deliveries
-- What is not handled yet between two numbers.
SELECT n, delivery_id, event, body, received_at_ms, attempts FROM deliveries
WHERE outcome IS NULL AND n BETWEEN ? AND ? ORDER BY n;

-- name: count_waiting
-- How many are not handled yet.
SELECT count(*) FROM deliveries WHERE outcome IS NULL;

-- name: try_delivery
-- One more attempt begins, or the last one does not count.
UPDATE deliveries SET attempts = max(0, attempts + ?) WHERE n = ? AND outcome IS NULL;

-- name: settle_delivery
-- What became of it; only of a failed one the body stays.
UPDATE deliveries SET outcome = ?1, why = ?2, settled_at_ms = ?3,
    body = CASE ?1 WHEN 'failed' THEN body END
WHERE n = ?4 AND outcome IS NULL;

-- name: settle_idle
-- Many that need nothing done, by a JSON list of their numbers.
UPDATE deliveries SET outcome = 'ignored', why = ?1, settled_at_ms = ?2, body = NULL
WHERE outcome IS NULL AND n IN (SELECT value FROM json_each(?3));

-- name: reopen_delivery
-- A failed one that still has its body waits again.
UPDATE deliveries SET outcome = NULL, why = '', settled_at_ms = NULL, attempts = 0
WHERE delivery_id = ? AND outcome = 'failed' AND body IS NOT NULL;

-- name: trim_deliveries
-- Forget settled ones that came before a time.
DELETE FROM deliveries WHERE outcome IS NOT NULL AND received_at_ms < ?;

-- name: page_deliveries
-- Deliveries before a number, newest first; an empty state means all.
SELECT n, delivery_id, event, received_at_ms, attempts, coalesce(outcome, 'waiting'), why,
    settled_at_ms, body IS NOT NULL FROM deliveries
WHERE n < ?1 AND (?2 = '' OR coalesce(outcome, 'waiting') = ?2) ORDER BY n DESC LIMIT ?3;

-- name: find_delivery
-- One by its id.
SELECT n, delivery_id, event, received_at_ms, attempts, coalesce(outcome, 'waiting'), why,
    settled_at_ms, body IS NOT NULL FROM deliveries WHERE delivery_id = ?;

-- name: add_subject
-- What an order is about; said once. Always later than what was said before about the same thing:
-- which is the newest must not depend on the clock.
INSERT OR IGNORE INTO order_subjects (order_id, repository_id, subject, purpose, asked_by, at_ms)
VALUES (?1, ?2, ?3, ?4, ?5, max(?6, 1 + coalesce((
    SELECT max(at_ms) FROM order_subjects WHERE repository_id = ?2 AND subject = ?3
), 0)));

-- name: get_subject
-- What an order is about.
SELECT order_id, repository_id, subject, purpose, asked_by, at_ms FROM order_subjects
WHERE order_id = ?;

-- name: orders_about
-- Orders about a thing of a repository, newest first; an empty subject means all of them.
SELECT order_id, repository_id, subject, purpose, asked_by, at_ms FROM order_subjects
WHERE repository_id = ?1 AND (?2 = '' OR subject = ?2) ORDER BY at_ms DESC, order_id LIMIT ?3;
