-- Lists can say which orders are over for good. Lines from before say so after
-- `awo doctor --rebuild`; an order's own page takes it from the journal.

ALTER TABLE orders ADD COLUMN rolled_back INTEGER NOT NULL DEFAULT 0;
