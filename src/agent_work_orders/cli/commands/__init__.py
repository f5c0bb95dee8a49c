"""The commands, grouped as people look for them."""
