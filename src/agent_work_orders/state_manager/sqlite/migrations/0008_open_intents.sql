-- What was begun and not finished is looked for at every start.

CREATE INDEX ledger_unreceived ON ledger (what, intended_at_ms) WHERE receipt IS NULL;
