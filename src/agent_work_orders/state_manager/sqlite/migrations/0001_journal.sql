-- The truth: runs, their events, and what is due. Integers stand for runs, so that the rows of
-- active runs lie together and a group of commits touches few pages.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;

CREATE TABLE plans (
    hash TEXT PRIMARY KEY,
    body BLOB NOT NULL,
    checksum BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    ended INTEGER NOT NULL,
    head_seq INTEGER NOT NULL,
    head_chain BLOB NOT NULL,
    plan_hash TEXT
);

CREATE INDEX runs_open ON runs (run) WHERE ended = 0;

-- `n` follows the order of commits over all runs.
CREATE TABLE events (
    n INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL,
    chain BLOB NOT NULL
);

CREATE UNIQUE INDEX events_of_run ON events (run, seq);

CREATE TABLE snapshots (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    body BLOB NOT NULL,
    checksum BLOB NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;

CREATE TABLE effects (
    run INTEGER NOT NULL,
    effect_id TEXT NOT NULL,
    body BLOB NOT NULL,
    lease INTEGER,
    PRIMARY KEY (run, effect_id)
) WITHOUT ROWID;

CREATE TABLE timers (
    run INTEGER NOT NULL,
    timer TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (run, timer)
) WITHOUT ROWID;
