"""Running coding agents: one protocol, one pure parser and one small adapter per agent."""
