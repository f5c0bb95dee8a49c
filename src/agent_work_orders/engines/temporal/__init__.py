"""The engine for many machines: the same machine and the same tools on a Temporal cluster.

`temporalio` is an extra, so nothing imports this room but whoever was told to use it.
"""
