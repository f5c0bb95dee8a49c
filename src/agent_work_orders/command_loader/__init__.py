"""What an agent is told: commands, prompts and instructions of a repository, and our defaults."""
