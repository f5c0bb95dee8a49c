"""Where a branch is delivered: GitHub, or a plain git repository."""
