"""What a box shows and keeps out, as arguments of `bwrap`. Pure.

Order matters to `bwrap`: what comes later lies over what came before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from agent_work_orders.sandbox_manager.inside.limits import SHARED_MEMORY_BYTES
from agent_work_orders.sandbox_manager.inside.paths import HOSTNAME, MIRROR, ORDER, RUNTIME

USER_ID = 1000
# Of /usr merged systems; elsewhere they are folders and are shown as such.
TOP_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Paths of this machine. `links` are the merged top folders and where they lead; `plain` the
    others; `tools` further folders that are shown read-only as they are, with programs that the
    server's own PATH names."""

    order: str
    mirror: str
    runtime: str
    links: Mapping[str, str]
    plain: Sequence[str]
    tools: Sequence[str] = ()


def arguments(view: View, *, seccomp: int | None, mirror: bool = True) -> list[str]:
    """Without the program itself and what it runs."""
    said = [
        "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent",
        "--new-session", "--clearenv", "--uid", str(USER_ID), "--gid", str(USER_ID),
        "--hostname", HOSTNAME, "--ro-bind", "/usr", "/usr",
    ]  # fmt: skip
    for name, target in view.links.items():
        said += ["--symlink", target, f"/{name}"]
    for name in view.plain:
        said += ["--ro-bind", f"/{name}", f"/{name}"]
    said += ["--ro-bind", f"{view.runtime}/etc", "/etc"]
    said += ["--dev", "/dev", "--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]
    # Some of /proc/sys is the machine's, whatever the namespaces.
    said += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    for name in ("/home", "/root", "/run", "/var"):
        said += ["--dir", name]
    for folder in view.tools:
        said += ["--ro-bind", folder, folder]
    said += ["--bind", view.order, ORDER, "--bind", f"{view.order}/tmp", "/tmp"]
    said += ["--bind", f"{view.order}/tmp", "/var/tmp"]
    if mirror:
        said += ["--ro-bind", view.mirror, MIRROR]
    said += ["--ro-bind", f"{view.runtime}/inside", RUNTIME]
    if seccomp is not None:
        said += ["--seccomp", str(seccomp)]
    # The root is a file system in memory, which bwrap made: nobody fills it.
    return [*said, "--remount-ro", "/", "--chdir", "/"]


def tools_of(path: str, home: str) -> list[str]:
    """The folders of programs that PATH names and the system's own do not have. Of a version's
    folder (`…/node-22/bin`) the whole, because programs are links into its `lib`; of a person's
    home or `~/.local` only the programs' folder itself."""
    found: list[str] = []
    for entry in path.split(":"):
        if not entry.startswith("/") or is_system(entry):
            continue
        above = entry.rpartition("/")[0]
        homes = {home, f"{home}/.local", "/root", "/home", "/opt", ""}
        # A folder of programs directly in a person's home: what is above is that home.
        is_home = above in homes or above.rpartition("/")[0] == "/home"
        whole = entry.endswith(("/bin", "/shims", "/sbin")) and not is_home
        found.append(above if whole else entry)
    outer = {folder for folder in found if not any(is_in(folder, o) for o in found if o != folder)}
    return [folder for folder in dict.fromkeys(found) if folder in outer]


def is_system(folder: str) -> bool:
    """What every box has."""
    return folder in ("/bin", "/sbin") or is_in(folder, "/usr")


def is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
