"""GraphQL's language, read into a tree: operations, fields, arguments, variables, fragments.

Directives, subscriptions and type definitions are refused: nothing here needs them.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

_TOKEN = re.compile(
    r"(?P<skip>[\s,\ufeff]+|#[^\n]*)|(?P<spread>\.\.\.)|(?P<punctuation>[!$():=@\[\]{}|])"
    r"|(?P<name>[_A-Za-z][_0-9A-Za-z]*)|(?P<float>-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+))"
    r'|(?P<int>-?\d+)|(?P<block>"""(?:[^"]|"(?!""))*""")|(?P<string>"(?:[^"\\\n]|\\.)*")'
)
# A query of ours has some dozens; a stack must not overflow.
DEPTH_LIMIT = 50


class SyntaxProblem(Exception):
    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class Variable(msgspec.Struct, frozen=True):
    name: str


class Word(msgspec.Struct, frozen=True):
    """A member of an enumeration."""

    name: str


class Selected(msgspec.Struct, frozen=True, kw_only=True):
    """A field, or (with `on`) a fragment for one type."""

    name: str
    alias: str
    arguments: dict[str, Any]
    fields: tuple[Selected, ...]
    line: int
    column: int
    on: str | None = None

    @property
    def place(self) -> list[dict[str, int]]:
        return [{"line": self.line, "column": self.column}]


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    default: Any = None


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    name: str
    variables: dict[str, Declared]
    fields: tuple[Selected, ...]


class _Token(msgspec.Struct, frozen=True):
    kind: str
    text: str
    line: int
    column: int


def parse(source: str) -> list[Operation]:
    """The document's operations, fragments put in their places. SyntaxProblem."""
    return _Parser(source).document()


class _Parser:
    def __init__(self, source: str) -> None:
        self._tokens = list(_tokens(source))
        self._at = 0
        self._fragments: dict[str, tuple[str, int]] = {}

    def document(self) -> list[Operation]:
        self._find_fragments()
        operations = []
        while self._peek().kind != "end":
            if self._peek().text == "fragment":
                self._next()
                self._fragment_head()
                self._selections(0)
            else:
                operations.append(self._operation())
        if not operations:
            self._fail(self._peek())
        return operations

    def _find_fragments(self) -> None:
        for at, token in enumerate(self._tokens):
            if token.text == "fragment" and token.kind == "name" and self._top_level(at):
                self._at = at + 1
                name, on = self._fragment_head()
                self._fragments[name] = (on, self._at)
        self._at = 0

    def _top_level(self, at: int) -> bool:
        depth = 0
        for token in self._tokens[:at]:
            depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "punctuation" else 0
        return depth == 0

    def _fragment_head(self) -> tuple[str, str]:
        name = self._expect_name()
        self._expect("on")
        return name, self._expect_name()

    def _operation(self) -> Operation:
        kind, name, variables = "query", "", {}
        if self._peek().kind == "name":
            kind = self._expect_name()
            if kind not in ("query", "mutation"):
                self._fail(self._tokens[self._at - 1])
            if self._peek().kind == "name":
                name = self._expect_name()
            if self._peek().text == "(":
                variables = self._variables()
        return Operation(kind=kind, name=name, variables=variables, fields=self._selections(0))

    def _variables(self) -> dict[str, Declared]:
        self._expect("(")
        found: dict[str, Declared] = {}
        while not self._take(")"):
            self._expect("$")
            name = self._expect_name()
            self._expect(":")
            type_ = self._type()
            default = self._value(0) if self._take("=") else None
            found[name] = Declared(type=type_, default=default)
        return found

    def _type(self) -> str:
        if self._take("["):
            inner = f"[{self._type()}]"
            self._expect("]")
        else:
            inner = self._expect_name()
        return inner + ("!" if self._take("!") else "")

    def _selections(self, depth: int) -> tuple[Selected, ...]:
        opening = self._expect("{")
        if depth > DEPTH_LIMIT:
            self._fail(opening)
        found: list[Selected] = []
        while not self._take("}"):
            found.append(self._selection(depth + 1))
        if not found:
            self._fail(opening)
        return tuple(found)

    def _selection(self, depth: int) -> Selected:
        token = self._peek()
        if token.kind == "spread":
            self._next()
            return self._spread(token, depth)
        name = alias = self._expect_name()
        if self._take(":"):
            name = self._expect_name()
        arguments: dict[str, Any] = {}
        if self._take("("):
            while not self._take(")"):
                key = self._expect_name()
                self._expect(":")
                arguments[key] = self._value(depth)
        fields = self._selections(depth) if self._peek().text == "{" else ()
        return Selected(
            name=name,
            alias=alias,
            arguments=arguments,
            fields=fields,
            line=token.line,
            column=token.column,
        )

    def _spread(self, token: _Token, depth: int) -> Selected:
        named = self._peek()
        on: str | None
        if named.text == "on":
            self._next()
            on = self._expect_name()
            fields = self._selections(depth)
        elif named.kind == "name" and named.text in self._fragments and depth <= DEPTH_LIMIT:
            self._next()
            back = self._at
            on, self._at = self._fragments[named.text]
            fields = self._selections(depth)
            self._at = back
        else:
            self._fail(named)
        return Selected(
            name="",
            alias="",
            arguments={},
            fields=fields,
            line=token.line,
            column=token.column,
            on=on,
        )

    def _value(self, depth: int) -> Any:
        token = self._next()
        if depth > DEPTH_LIMIT:
            self._fail(token)
        if token.text == "$":
            return Variable(self._expect_name())
        if token.text == "[" and token.kind == "punctuation":
            items = []
            while not self._take("]"):
                items.append(self._value(depth + 1))
            return items
        if token.text == "{" and token.kind == "punctuation":
            found: dict[str, Any] = {}
            while not self._take("}"):
                key = self._expect_name()
                self._expect(":")
                found[key] = self._value(depth + 1)
            return found
        return self._plain(token)

    def _plain(self, token: _Token) -> Any:
        match token.kind:
            case "int":
                return int(token.text)
            case "float":
                return float(token.text)
            case "block":
                return token.text[3:-3].strip("\n")
            case "string":
                return msgspec.json.decode(token.text.encode())
            case "name":
                words = {"true": True, "false": False, "null": None}
                return words[token.text] if token.text in words else Word(token.text)
        self._fail(token)

    def _peek(self) -> _Token:
        return self._tokens[self._at]

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        if token.kind == "end":
            self._fail(token)
        self._at += 1
        return token

    def _take(self, text: str) -> bool:
        if self._peek().text != text or self._peek().kind in ("string", "block"):
            return False
        self._next()
        return True

    def _expect(self, text: str) -> _Token:
        token = self._peek()
        if not self._take(text):
            self._fail(token)
        return token

    def _expect_name(self) -> str:
        token = self._next()
        if token.kind != "name":
            self._fail(token)
        return token.text

    def _fail(self, token: _Token) -> Any:
        shown = f'"{token.text}"' if token.text else "end of file"
        raise SyntaxProblem(
            f"Parse error on {shown} at [{token.line}, {token.column}]", token.line, token.column
        )


def _tokens(source: str) -> list[_Token]:
    found, at, line, start = [], 0, 1, 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        column = at - start + 1
        if match is None:
            raise SyntaxProblem(
                f'Parse error on "{source[at]}" at [{line}, {column}]', line, column
            )
        if match.lastgroup != "skip":
            found.append(_Token(str(match.lastgroup), match[0], line, column))
        newlines = match[0].count("\n")
        if newlines:
            line += newlines
            start = at + match[0].rindex("\n") + 1
        at = match.end()
    found.append(_Token("end", "", line, at - start + 1))
    return found
