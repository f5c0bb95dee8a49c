-- Where each order's branch stands in its mirror, so that a mirror that was lost is noticed; and
-- what proves the outbox: how many rows a run is owed, and a checksum of each. Rows from before
-- have none of it and are believed.

CREATE TABLE branches (
    order_id TEXT PRIMARY KEY,
    repository TEXT NOT NULL,
    base_sha TEXT NOT NULL,
    head_sha TEXT NOT NULL
) WITHOUT ROWID;

ALTER TABLE runs ADD COLUMN owed_effects INTEGER;
ALTER TABLE runs ADD COLUMN owed_timers INTEGER;
ALTER TABLE effects ADD COLUMN checksum INTEGER;
ALTER TABLE timers ADD COLUMN checksum INTEGER;
