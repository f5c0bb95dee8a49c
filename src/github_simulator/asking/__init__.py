"""What every request is checked by: access, bodies, pages."""
