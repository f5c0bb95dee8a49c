"""The engine for many machines: the same machine and the same tools on a Temporal cluster.

`temporalio` is an extra: `connection` is the door, and imports the rest only when it is asked to.
"""
