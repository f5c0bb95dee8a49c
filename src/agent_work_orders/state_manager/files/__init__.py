"""What is kept as plain files."""
