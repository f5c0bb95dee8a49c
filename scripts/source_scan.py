"""What the source says about itself: failures raised, log events written, settings read, faults
covered. Read from the syntax tree alone, so that nothing has to be imported or run."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "agent_work_orders"
SIMULATOR = ROOT / "src" / "github_simulator"
TESTS = ROOT / "tests"

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_.][a-z0-9]+)*")
_SETTING = re.compile(r"AWO_[A-Z0-9_]+")
# A test in a browser: its title, and the row of the catalogue as its tag.
_TAGGED = re.compile(r'test\(\s*["`]([^"`]+)["`],\s*\{ tag: "@([A-Z]\d+)" \}')
_LEVELS = {"debug", "info", "warning", "error", "exception", "critical"}
_TREE_ROOT = "AgentWorkOrdersError"


@dataclass(frozen=True)
class Module:
    path: Path
    tree: ast.Module

    @property
    def where(self) -> str:
        return self.path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Kind:
    """A class of the failure tree."""

    name: str
    status: str
    fixed_code: bool


@dataclass(frozen=True, order=True)
class Failure:
    code: str
    kind: str
    status: str
    message: str
    hint: str
    where: str


@dataclass(frozen=True, order=True)
class LogEvent:
    name: str
    level: str
    where: str


@dataclass(frozen=True, order=True)
class Cover:
    fault: str
    test: str
    slow: bool = field(compare=False)


@cache
def modules(*folders: Path) -> list[Module]:
    found = []
    for folder in folders or (SOURCE, SIMULATOR):
        for path in sorted(folder.rglob("*.py")):
            found.append(Module(path, ast.parse(path.read_text(encoding="utf-8"))))
    return found


def failures() -> tuple[list[Failure], list[str]]:
    """Every failure with a literal code, and the places where the code is not a literal."""
    source = modules()
    kinds = _kinds(source)
    found: list[Failure] = []
    unclear: list[str] = []
    for module in source:
        for call in _calls(module.tree):
            kind = kinds.get(_last_name(call.func))
            if kind is not None and not kind.fixed_code and module.path.name != "errors.py":
                codes = _choices(call.args[0]) if call.args else []
                found.extend(_failure(code, kind, call, module) for code in codes)
                if not codes or not all(map(_NAME.fullmatch, codes)):
                    unclear.append(f"{module.where}:{call.lineno}")
            elif _last_name(call.func) == "Failure":
                recorded = _recorded_failure(call, module)
                found.extend([recorded] if recorded else [])
        found.extend(_fixed(module, kinds))
    return sorted(set(found)), unclear


def log_events() -> list[LogEvent]:
    """`log("name", level=…)`, `logger.info("name")`, `log(order, "name", "info", …)`, and what a
    function returns to be logged: `"name", "info", {…}`."""
    found: set[LogEvent] = set()
    for module in modules():
        for words in _spoken(module.tree):
            name, level = map(_text, words)
            if name is not None and _NAME.fullmatch(name) and level in _LEVELS:
                found.add(LogEvent(name, level, module.where))
        for call in _calls(module.tree):
            if not (isinstance(call.func, ast.Attribute) and call.args):
                continue
            name = _text(call.args[0])
            if name is None or not _NAME.fullmatch(name):
                continue
            method = call.func.attr
            if method == "log":
                level = next((_text(k.value) for k in call.keywords if k.arg == "level"), "info")
                found.add(LogEvent(name, level or "varies", module.where))
            elif method in _LEVELS and "log" in _last_name(call.func.value).lower():
                found.add(LogEvent(name, method, module.where))
    return sorted(found)


def _spoken(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) >= 3:
            if _last_name(node.func).strip("_") == "log":
                yield node.args[1], node.args[2]
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            if len(node.value.elts) == 3:
                yield node.value.elts[0], node.value.elts[1]


def settings() -> dict[str, str]:
    """Environment variables of ours, each with the first module that names it."""
    found: dict[str, str] = {}
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for name in _SETTING.findall(node.value):
                    found.setdefault(name, module.where)
    return found


def faults() -> dict[str, dict[str, str]]:
    """The catalogue: group -> id -> description."""
    return tomllib.loads((TESTS / "faults.toml").read_text(encoding="utf-8"))


def covers() -> list[Cover]:
    """Every use of the `fault` mark, in the tests and in the shipped conformance suites, and every
    such tag of a test in a browser."""
    found: set[Cover] = set()
    for module in modules(TESTS, SOURCE / "testing"):
        for names, call, slow in _marks(module.tree, (), False):
            test = "::".join((module.where, *names))
            found.update(Cover(code, test, slow) for code in map(_text, call.args) if code)
    for spec in sorted((ROOT / "web/e2e/specs").glob("*.spec.ts")):
        where = spec.relative_to(ROOT).as_posix()
        for title, code in _TAGGED.findall(spec.read_text(encoding="utf-8")):
            found.add(Cover(code, f"{where}::{title}", False))
    return sorted(found)


def _marks(
    node: ast.AST, names: tuple[str, ...], slow: bool
) -> Iterator[tuple[tuple[str, ...], ast.Call, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            marked = any(ast.unparse(mark) == "pytest.mark.slow" for mark in child.decorator_list)
            yield from _marks(child, (*names, child.name), slow or marked)
        elif isinstance(child, ast.Call) and ast.unparse(child.func).endswith("mark.fault"):
            yield names, child, slow
        else:
            yield from _marks(child, names, slow)


def _kinds(source: list[Module]) -> dict[str, Kind]:
    """The failure tree, wherever its classes stand, found from its root by name. A class outside
    of the tree may have the name of one inside."""
    classes = [
        (node.name, node)
        for module in source
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    ]
    kinds = {_TREE_ROOT: Kind(_TREE_ROOT, "500", False)}
    grew = True
    while grew:
        grew = False
        for name, node in classes:
            parent = next((kinds[b] for b in map(_last_name, node.bases) if b in kinds), None)
            if parent is not None and name not in kinds:
                own_init = any(
                    isinstance(n, ast.FunctionDef) and n.name == "__init__" for n in node.body
                )
                status = _status(node) or ("—" if name == "Failed" else parent.status)
                kinds[name] = Kind(name, status, parent.fixed_code or own_init)
                grew = True
    return kinds


def _status(node: ast.ClassDef) -> str | None:
    for statement in node.body:
        target = getattr(statement, "target", None) or next(
            iter(getattr(statement, "targets", [])), None
        )
        if isinstance(target, ast.Name) and target.id == "status":
            value = getattr(statement, "value", None)
            return str(value.value) if isinstance(value, ast.Constant) else None
    return None


def _fixed(module: Module, kinds: dict[str, Kind]) -> Iterator[Failure]:
    """Classes that give their own code to `super().__init__`."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef) and node.name in kinds and kinds[node.name].fixed_code:
            for call in _calls(node):
                if ast.unparse(call.func) == "super().__init__" and call.args:
                    code = _text(call.args[0])
                    if code is not None:
                        yield _failure(code, kinds[node.name], call, module)


def _failure(code: str, kind: Kind, call: ast.Call, module: Module) -> Failure:
    message = _template(call.args[1]) if len(call.args) > 1 else ""
    hint = next((_template(k.value) for k in call.keywords if k.arg == "hint"), "")
    return Failure(code, kind.name, kind.status, message, hint, module.where)


def _recorded_failure(call: ast.Call, module: Module) -> Failure | None:
    """`Failure(category=…, code="…", …)`: the form in which the machine and events hold one."""
    given = {k.arg: k.value for k in call.keywords if k.arg}
    code = _text(given["code"]) if "code" in given else None
    if code is None:
        return None
    category = _text(given["category"]) if "category" in given else None
    message = _template(given["message"]) if "message" in given else ""
    hint = _template(given["hint"]) if "hint" in given else ""
    return Failure(code, (category or "failed").capitalize(), "—", message, hint, module.where)


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _choices(node: ast.AST) -> list[str]:
    """The text of a literal, or both of `"a" if … else "b"`; nothing if one is not a literal."""
    if isinstance(node, ast.IfExp):
        sides = [_choices(node.body), _choices(node.orelse)]
        return [text for side in sides for text in side] if all(sides) else []
    text = _text(node)
    return [] if text is None else [text]


def _template(node: ast.AST) -> str:
    """A literal as it stands; in a formatted one, each value as `…`."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "…" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _template(node.left) + _template(node.right)
    return _text(node) or "…"
