"""The part of GraphQL that REST cannot do: drafts, auto-merge, review threads."""
