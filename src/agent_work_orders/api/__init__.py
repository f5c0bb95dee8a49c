"""HTTP: the only room that knows FastAPI and Pydantic. It decides nothing; use cases do."""
