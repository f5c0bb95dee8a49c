-- name: put_plans
-- Keep plans by hash; the same hash is the same plan.
INSERT OR IGNORE INTO plans (hash, body, checksum) VALUES (ROWS);

-- name: put_heads
-- Where each run stands after the group: the last event and its chain.
INSERT INTO runs (run, run_id, ended, head_seq, head_chain, plan_hash, owed_effects, owed_timers,
    checksum)
VALUES (ROWS)
ON CONFLICT (run) DO UPDATE SET
    ended = excluded.ended, head_seq = excluded.head_seq,
    head_chain = excluded.head_chain, plan_hash = excluded.plan_hash,
    owed_effects = excluded.owed_effects, owed_timers = excluded.owed_timers,
    checksum = excluded.checksum;

-- name: add_events
-- Append events; a second event with the same seq is an error.
INSERT INTO events (run, seq, at_ms, kind, body, chain) VALUES (ROWS);

-- name: put_effects
-- Add or replace rows of the outbox.
INSERT OR REPLACE INTO effects (run, effect_id, body, lease, checksum) VALUES (ROWS);

-- name: lease_effects
-- Say which life of the server works on an effect that was there before.
UPDATE effects SET lease = ? WHERE run = ? AND effect_id = ?;

-- name: drop_effects
-- Effects that are done.
DELETE FROM effects WHERE (run, effect_id) IN (VALUES (ROWS));

-- name: put_timers
-- Set timers; the same name is moved.
INSERT OR REPLACE INTO timers (run, timer, at_ms, checksum) VALUES (ROWS);

-- name: drop_timers
-- Timers that fired or are not wanted any more.
DELETE FROM timers WHERE (run, timer) IN (VALUES (ROWS));

-- name: put_snapshot
-- Keep a snapshot.
INSERT OR REPLACE INTO snapshots (run, seq, body, checksum) VALUES (?, ?, ?, ?);

-- name: drop_old_snapshots
-- All but the given one and the one before it: a bad snapshot must leave a good one.
DELETE FROM snapshots WHERE run = ?1 AND seq <
    (SELECT max(seq) FROM snapshots WHERE run = ?1 AND seq < ?2);

-- name: find_head
-- One run by its id.
SELECT run, run_id, ended, head_seq, head_chain, plan_hash, owed_effects, owed_timers,
    checksum FROM runs WHERE run_id = ?;

-- name: last_run
-- The largest number given to a run.
SELECT coalesce(max(run), 0) FROM (SELECT max(run) AS run FROM runs UNION SELECT max(run) FROM events);

-- name: all_heads
-- Every run, whatever indexes say.
SELECT run, run_id, ended, head_seq, head_chain, plan_hash, owed_effects, owed_timers,
    checksum FROM runs NOT INDEXED ORDER BY run;

-- name: run_ids
-- A page of the ids of all runs.
SELECT run_id FROM runs WHERE run_id > ? ORDER BY run_id LIMIT ?;

-- name: orphans
-- Numbers of runs that have events but no row of their own, with their first event.
SELECT run, min(seq) FROM events WHERE run NOT IN (SELECT run FROM runs) GROUP BY run;

-- name: events_after
-- The events of a run after a seq, in order, with their chain.
SELECT seq, at_ms, kind, body, chain FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?;

-- name: chain_at
-- The chain of one event.
SELECT chain FROM events WHERE run = ? AND seq = ?;

-- name: snapshots_of
-- Snapshots of a run, newest first.
SELECT seq, body, checksum FROM snapshots WHERE run = ? ORDER BY seq DESC;

-- name: effects_of
-- The outbox of a run.
SELECT effect_id, body, lease, checksum FROM effects WHERE run = ? ORDER BY effect_id;

-- name: timers_of
-- The timers of a run.
SELECT timer, at_ms, checksum FROM timers WHERE run = ? ORDER BY at_ms, timer;

-- name: strays
-- Numbers of runs that the outbox names and that have no row of their own.
SELECT run FROM effects WHERE run NOT IN (SELECT run FROM runs)
UNION SELECT run FROM timers WHERE run NOT IN (SELECT run FROM runs);

-- name: plan_of
-- A plan and its checksum.
SELECT body, checksum FROM plans WHERE hash = ?;

-- name: last_lease
-- The last life of the server that an effect was given to.
SELECT coalesce(max(lease), 0) FROM effects WHERE typeof(lease) = 'integer';
