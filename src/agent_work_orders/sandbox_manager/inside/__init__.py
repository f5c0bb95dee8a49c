"""What the types of sandbox share whose programs run in a place of their own, on the folder of a
local sandbox (`local/`): the program that starts them there (`inner.py`), the way it is spoken to
(`channel.py`), what it is refused (`seccomp.py`), how much it may use (`limits.py`)."""
