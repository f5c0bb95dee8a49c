-- What is known of GitHub's limits, for each credential (a name without secrets).

CREATE TABLE quota (
    credential TEXT PRIMARY KEY,
    state TEXT NOT NULL
) WITHOUT ROWID;
