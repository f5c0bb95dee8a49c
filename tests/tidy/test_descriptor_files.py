"""Only the two modules that go by descriptor change trees that agents can write: everywhere else in
the room, a call that changes a file system by path is listed here with what it is for."""

from __future__ import annotations

import ast

import source_scan

ROOM = source_scan.SOURCE / "sandbox_manager"
DOORS = {"local/descriptor_files.py", "local/descriptor_trees.py"}
CHANGES = {
    "chmod", "chown", "lchmod", "lchown", "link", "makedirs", "mkdir", "mkfifo", "mknod", "open",
    "remove", "removedirs", "rename", "renames", "replace", "rmdir", "symlink", "truncate",
    "unlink", "utime", "touch", "write_bytes", "write_text", "symlink_to", "hardlink_to",
}  # fmt: skip
# None of these is in an agent's tree, or it is relative to a descriptor of one.
ALLOWED = {
    "bubblewrap/cgroups.py": {"mkdir", "open", "rmdir"},  # control groups
    "container/container.py": {"chmod", "unlink"},  # a socket in a folder that the server writes
    "inside/shown.py": {
        "chmod",
        "mkdir",
        "rename",
        "shutil",
        "symlink_to",
        "write_bytes",
    },  # what programs are shown, which no agent can write
    "local/execution.py": {"open"},  # /dev/null
    "local/files.py": {"open"},  # read only, relative to a folder that descriptor_files.py opened
    "local/leases.py": {"mkdir", "open", "symlink", "unlink"},  # the machine's leases
    "local/sandbox.py": {"unlink"},  # the register's index
    "local/namespaces.py": {"makedirs", "open"},  # in the cover, in a namespace of its own
    "local/processes.py": {"open"},  # /proc
    "local/register.py": {"chmod", "mkdir", "replace", "write_bytes"},  # the server's own folder
    "local/sandboxes.py": {
        "chmod",
        "mkdir",
        "rename",
    },  # the data directory itself, and its entries
    "local/supervisor.py": {"open"},  # as the agent's user
    "local/private_tmp.py": {
        "chmod",  # of a folder that is root's, by its descriptor
        "mkdir",
        "open",
        "symlink",
        "unlink",
    },  # in a namespace of its own, relative to descriptors
    "local/sandbox_folder.py": {
        "replace",
        "unlink",
        "utime",
        "write_bytes",
    },  # the index; by descriptor
}
# A struct; one of the doors; a container.
HARMLESS = {
    ("msgspec.structs", "replace"),
    ("descriptor_trees", "remove"),
    ("engine", "remove"),
}


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


def test_only_by_descriptor_is_changed_what_agents_can_write() -> None:
    found = {
        str(path.relative_to(ROOM)): changes(ast.parse(path.read_text("utf-8")))
        for path in sorted(ROOM.rglob("*.py"))
        if str(path.relative_to(ROOM)) not in DOORS
    }
    assert {name: calls for name, calls in found.items() if calls} == ALLOWED


def test_it_would_be_found() -> None:
    for line in ("os.chown(p, 1, 1)", "path.chmod(0o700)", "import shutil", "open(p, 'w')"):
        assert changes(ast.parse(line)), line


def test_nothing_of_agents_is_named_by_path() -> None:
    """What changes a mode or an owner does so through a descriptor, also there."""
    for name in DOORS:
        for node in ast.walk(ast.parse((ROOM / name).read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            assert called not in ("os.chown", "os.lchown", "shutil.rmtree", "os.makedirs"), called
            if called == "os.chmod":
                assert "/proc/self/fd/" in ast.unparse(node.args[0]), ast.unparse(node)
