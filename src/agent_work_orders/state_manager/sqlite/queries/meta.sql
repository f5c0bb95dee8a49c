-- name: get_meta
-- A small value by name.
SELECT name, value, checksum FROM meta WHERE name = ?;

-- name: put_meta
-- Keep a small value by name.
INSERT OR REPLACE INTO meta (name, value, checksum) VALUES (?, ?, ?);

-- name: last_life
-- The life of the newest row of the feed.
SELECT coalesce(max(n), 0) >> 32 FROM feed;
