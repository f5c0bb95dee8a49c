"""Where the parts meet. Nothing here decides anything.

`house.py` opens the running product, `looking.py` the data directory without anybody at work in it.
The others make one part each: the store, GitHub, what lies around the orders, the engine, the
background duties.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_work_orders.bootstrap.house import House, open_house
    from agent_work_orders.bootstrap.looking import open_archive, open_trial, open_upkeep

__all__ = ["House", "open_archive", "open_house", "open_trial", "open_upkeep"]

_PLACES = {
    "House": "house",
    "open_archive": "looking",
    "open_house": "house",
    "open_trial": "looking",
    "open_upkeep": "looking",
}


def __getattr__(name: str) -> Any:
    """Who only looks does not wait for everything that a running product needs to be loaded."""
    if name not in _PLACES:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
