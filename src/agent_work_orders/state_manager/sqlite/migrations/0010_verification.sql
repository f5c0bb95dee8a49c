-- Lists say whether tests stand behind what an order changed. Lines from before say nothing until
-- `awo doctor --rebuild`; an order's own page takes it from the journal.

ALTER TABLE orders ADD COLUMN verification TEXT;
ALTER TABLE orders ADD COLUMN verification_reason TEXT;
