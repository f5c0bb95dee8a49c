"""Agent Work Orders: a repository and a piece of work in, a verified pull request out."""

__version__ = "0.1.0"
