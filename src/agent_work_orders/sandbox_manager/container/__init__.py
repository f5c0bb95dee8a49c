"""`container`: programs of an order in a container of an engine on this machine (Docker or Podman),
without network, on the local folder of the order (`local/`). `engine.py` asks the engine,
`container.py` is one container, `containers.py` all of a server."""
