-- Whether the order's branch is in the repository: pushed, or offered for review.

ALTER TABLE orders ADD COLUMN branch_offered INTEGER NOT NULL DEFAULT 0;
