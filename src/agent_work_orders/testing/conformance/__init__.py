"""One suite per contract: every implementation, fake or real, passes the same checks."""
