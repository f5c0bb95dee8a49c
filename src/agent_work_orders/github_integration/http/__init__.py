"""The way to the wire: retrying, one request, limits, pages."""
