"""No signal and no abstract socket leads out of an execution. Standard library only.

Landlock's scopes, which need no privilege and no namespace; kernels from 6.12 on have them. What a
program starts is in the same scope. Nothing else is restricted by it.
"""

from __future__ import annotations

import ctypes
import os
import struct

# The same on all machines.
CREATE_RULESET, RESTRICT_SELF = 444, 446
ASK_VERSION = 1
FIRST_VERSION = 6
ABSTRACT_SOCKETS, SIGNALS = 1, 2

_libc = ctypes.CDLL(None, use_errno=True)


def works() -> bool:
    found = _libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(ASK_VERSION))
    return int(found) >= FIRST_VERSION


def enter() -> None:
    """For this process and all below it, for ever. It may gain no privileges any more."""
    rules = struct.pack("QQQ", 0, 0, ABSTRACT_SOCKETS | SIGNALS)
    size = ctypes.c_size_t(len(rules))
    fd = int(_libc.syscall(CREATE_RULESET, rules, size, ctypes.c_uint(0)))
    if fd < 0 or _libc.syscall(RESTRICT_SELF, fd, ctypes.c_uint(0)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"landlock: {os.strerror(number)}")
    os.close(fd)
