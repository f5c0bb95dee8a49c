-- Lists can say how sure an order's cost is: exact, estimated, or at_least. Lines from before say so
-- after `awo doctor --rebuild`; an order's own page takes it from the journal.

ALTER TABLE orders ADD COLUMN cost_certainty TEXT NOT NULL DEFAULT 'exact';
