"""For whoever directs the play from outside."""
