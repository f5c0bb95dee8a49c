"""REST: each module answers the operations of one kind of thing and lists them in ROUTES."""
