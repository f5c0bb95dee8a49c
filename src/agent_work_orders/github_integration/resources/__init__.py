"""What there is on GitHub, each kind asked and written in its own module."""
