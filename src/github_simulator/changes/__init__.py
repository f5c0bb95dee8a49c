"""What is done on GitHub, and what follows from it."""
