"""From failures to decisions. Pure."""
