"""Things of the world as GitHub's JSON. Nothing here changes anything."""
