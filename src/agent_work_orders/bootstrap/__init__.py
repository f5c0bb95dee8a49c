"""Where the parts meet. Nothing here decides anything.

`house.py` opens the running product, `looking.py` the data directory without anybody at work in it.
The others make one part each: the store, GitHub, what lies around the orders, the engine, the
background duties.
"""

from agent_work_orders.bootstrap.house import House, open_house
from agent_work_orders.bootstrap.looking import open_archive, open_upkeep

__all__ = ["House", "open_archive", "open_house", "open_upkeep"]
