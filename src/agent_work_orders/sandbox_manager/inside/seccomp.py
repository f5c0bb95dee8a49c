"""The system calls that no program of an order gets, as a filter for the kernel. Pure.

A list of what is refused, not of what is allowed: builds and tests of strangers need nearly
everything else, and a new call of the C library must not break them. What is here changes the
machine, looks into other programs, or opens a door into the kernel that has been an escape before.
Refused with EPERM; a few with ENOSYS, for which programs have another way.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

# Per architecture: its number for the kernel, and its numbers of calls. One that an architecture
# does not have stands there not.
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
REFUSED: dict[str, dict[str, int]] = {
    "x86_64": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
        "pidfd_getfd": 438, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
        "move_mount": 429, "open_tree": 428, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
        "fspick": 433, "mount_setattr": 442, "open_tree_attr": 467, "swapon": 167, "swapoff": 168,
        "unshare": 272, "setns": 308, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
        "keyctl": 250, "add_key": 248, "request_key": 249, "kexec_load": 246,
        "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176,
        "open_by_handle_at": 304, "quotactl": 179, "quotactl_fd": 443, "acct": 163, "reboot": 169,
        "settimeofday": 164, "clock_settime": 227, "clock_adjtime": 305, "adjtimex": 159,
        "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "syslog": 103,
        "lookup_dcookie": 212, "vhangup": 153, "modify_ldt": 154, "uselib": 134, "nfsservctl": 180,
        "fanotify_init": 300,
    },
    "aarch64": {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
        "pidfd_getfd": 438, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51,
        "move_mount": 429, "open_tree": 428, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
        "fspick": 433, "mount_setattr": 442, "open_tree_attr": 467, "swapon": 224, "swapoff": 225,
        "unshare": 97, "setns": 268, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282,
        "keyctl": 219, "add_key": 217, "request_key": 218, "kexec_load": 104,
        "kexec_file_load": 294, "init_module": 105, "finit_module": 273, "delete_module": 106,
        "open_by_handle_at": 265, "quotactl": 60, "quotactl_fd": 443, "acct": 89, "reboot": 142,
        "settimeofday": 170, "clock_settime": 112, "clock_adjtime": 266, "adjtimex": 171,
        "sethostname": 161, "setdomainname": 162, "syslog": 116, "vhangup": 58,
        "fanotify_init": 262,
    },
}  # fmt: skip
# io_uring does what the filter cannot see; clone3 has its flags where it cannot look.
ABSENT = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "clone3": 435}
_CLONE = {"x86_64": 56, "aarch64": 220}
_SOCKET = {"x86_64": 41, "aarch64": 198}
_IOCTL = {"x86_64": 16, "aarch64": 29}
# New namespaces by clone: mount, cgroup, uts, ipc, user, pid, net (time has no bit that fits).
_NAMESPACES = (
    0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | (0x40000000)
)
# AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (how the C library lists addresses). All else has been a
# way into the kernel, or to the machine's other side (AF_VSOCK).
FAMILIES = (1, 2, 10, 16)
# What puts words into a terminal's input, and what does so on a console.
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_X32 = 0x40000000

_EPERM, _ENOSYS = 1, 38
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _SET, _ABOVE, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
# struct seccomp_data: nr, arch, instruction pointer, six arguments of 64 bits (little endian).
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16


def filter_for(machine: str) -> bytes | None:
    """The filter as `bwrap --seccomp` reads it; None for an architecture that is not known here."""
    if machine not in _AUDIT:
        return None
    program = [
        _step(_LOAD, _ARCH_AT),
        _step(_EQUAL, _AUDIT[machine], then=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER_AT),
    ]
    if machine == "x86_64":
        # The numbers of another interface to the same calls.
        program += [_step(_ABOVE, _X32, otherwise=1), _step(_RETURN, _ERRNO | _EPERM)]
    program += _answers(sorted(REFUSED[machine].values()), _EPERM)
    program += _answers(sorted(ABSENT.values()), _ENOSYS)
    program += _when(_CLONE[machine], 0, [_step(_SET, _NAMESPACES, otherwise=1), _refuse()])
    families = [_step(_EQUAL, one, then=len(FAMILIES) - n) for n, one in enumerate(FAMILIES)]
    program += _when(_SOCKET[machine], 0, [*families, _refuse()])
    control = [_step(_EQUAL, _TIOCSTI, then=1), _step(_EQUAL, _TIOCLINUX, otherwise=1), _refuse()]
    program += _when(_IOCTL[machine], 1, control)
    program.append(_step(_RETURN, _ALLOW))
    return b"".join(program)


def _answers(numbers: Iterable[int], error: int) -> list[bytes]:
    found = []
    for number in numbers:
        found += [_step(_EQUAL, number, otherwise=1), _step(_RETURN, _ERRNO | error)]
    return found


def _when(number: int, argument: int, steps: list[bytes]) -> list[bytes]:
    """For one call: look at the low half of an argument; afterwards the call is allowed, or was
    refused by the last of the steps."""
    looked = [_step(_LOAD, _ARGUMENTS_AT + 8 * argument), *steps, _step(_RETURN, _ALLOW)]
    return [_step(_EQUAL, number, otherwise=len(looked)), *looked]


def _refuse() -> bytes:
    return _step(_RETURN, _ERRNO | _EPERM)


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", code, then, otherwise, value)
