"""`bubblewrap`: programs of an order in namespaces of their own, without network, on the local
folder of the order (`local/`). `box.py` is one such place, `boxes.py` all of a server."""
