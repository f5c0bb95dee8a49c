"""What runs the durable no-op tasks: one driver per subject, each in its own environment."""
