"""Only the host's hands change what is in trees that agents can write: everywhere else in the room,
a call that changes a file system by path is listed here with what it is for."""

from __future__ import annotations

import ast

import source_scan

ROOM = source_scan.SOURCE / "sandbox_manager"
DOORS = {"hands.py", "trees.py"}
CHANGES = {
    "chmod", "chown", "lchmod", "lchown", "link", "makedirs", "mkdir", "mkfifo", "mknod", "open",
    "remove", "removedirs", "rename", "renames", "replace", "rmdir", "symlink", "truncate",
    "unlink", "utime", "touch", "write_bytes", "write_text", "symlink_to", "hardlink_to",
}  # fmt: skip
# None of these is in an agent's tree, or it is relative to a descriptor of one.
ALLOWED = {
    "execution.py": {"open"},  # /dev/null
    "files.py": {"open"},  # read only, relative to a folder that hands.py opened
    "leases.py": {"mkdir", "open", "symlink", "unlink"},  # the machine's leases
    "local.py": {"unlink"},  # the register's index
    "namespaces.py": {"makedirs", "open"},  # in the cover, in a namespace of its own
    "processes.py": {"open"},  # /proc
    "register.py": {"chmod", "mkdir", "replace", "write_bytes"},  # the server's own folder
    "sandboxes.py": {"chmod", "mkdir"},  # the data directory itself
    "supervisor.py": {"open"},  # as the agent's user
    "veil.py": {
        "chmod",  # of a folder that is root's, by its descriptor
        "mkdir",
        "open",
        "symlink",
        "unlink",
    },  # in a namespace of its own, relative to descriptors
    "workspace.py": {"replace", "unlink", "utime", "write_bytes"},  # the index; by descriptor
}
# A struct; one of the doors.
HARMLESS = {("msgspec.structs", "replace"), ("trees", "remove")}


def changes(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            module = getattr(node, "module", None) or ""
            found |= {"shutil" for name in (*names, module) if name.split(".")[0] == "shutil"}
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "open":
            found.add("open")
        if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
            whose = ast.unparse(node.func.value)
            path = node.func.attr not in ("open", "replace") or whose == "os"
            if path and (whose, node.func.attr) not in HARMLESS:
                found.add(node.func.attr)
    return found


def test_only_the_hands_change_what_agents_can_write() -> None:
    found = {
        path.name: changes(ast.parse(path.read_text("utf-8")))
        for path in sorted(ROOM.glob("*.py"))
        if path.name not in DOORS
    }
    assert {name: calls for name, calls in found.items() if calls} == ALLOWED


def test_it_would_be_found() -> None:
    for line in ("os.chown(p, 1, 1)", "path.chmod(0o700)", "import shutil", "open(p, 'w')"):
        assert changes(ast.parse(line)), line


def test_hands_name_nothing_of_agents_by_path() -> None:
    """What changes a mode or an owner does so through a descriptor, also there."""
    for name in DOORS:
        for node in ast.walk(ast.parse((ROOM / name).read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            assert called not in ("os.chown", "os.lchown", "shutil.rmtree", "os.makedirs"), called
            if called == "os.chmod":
                assert "/proc/self/fd/" in ast.unparse(node.args[0]), ast.unparse(node)
