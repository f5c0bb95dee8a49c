"""What GitHub publishes of its API, as checks: REST requests and answers, webhooks, GraphQL.

    sys.path.append(<tests>)
    from github_descriptions import validate_request

Requests are checked strictly: an operation, a query parameter or a field of the body that GitHub
does not describe is an error. Answers are checked by their schema; what the description gets
wrong about GitHub's real answers is listed in EXCEPTIONS, with the reason.

The files come by `scripts/github_descriptions` (`make test` runs it). Schemas are compiled one by
one, when they are first needed: the whole has 13 MB.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema_rs
import msgspec

FOLDER = Path(__file__).parent / "github_descriptions"
PACKAGES = FOLDER / "node_modules" / "@octokit"
WEBHOOK_EXAMPLES = PACKAGES / "webhooks-examples" / "api.github.com" / "index.json"

# An operation's id or a webhook's name, and a place in the answer as a regular expression: why our
# answer is right although the description says otherwise.
_NO_LINE = "an outdated comment, and one on a whole file, has no line: GitHub says null"
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("pulls/get-review-comment", "line|position"): _NO_LINE,
    ("pulls/create-review-comment", "(original_)?(line|position)"): _NO_LINE,
    ("pulls/list-review-comments", r"\d+/(original_)?(line|position)"): _NO_LINE,
    ("pulls/list-review-comments-for-repo", r"\d+/(original_)?(line|position)"): _NO_LINE,
    ("pulls/list-comments-for-review", r"\d+/(original_)?(line|position)"): _NO_LINE,
    ("apps/list-installations", r"\d+/account"): "says that an account is a user and an enterprise "
    "at once; apps/get-installation says either",
}

# Parameters that may hold slashes.
_LONG = ("path", "ref", "branch", "basehead")


class NotDescribed(AssertionError):
    """GitHub's description does not know this, or says it otherwise."""


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    method: str
    template: str
    spec: dict[str, Any]


@functools.cache
def description() -> dict[str, Any]:
    path = PACKAGES / "openapi" / "generated" / "api.github.com.json"
    if not path.is_file():
        raise NotDescribed(f"{path.name} is missing: run scripts/github_descriptions")
    found: dict[str, Any] = msgspec.json.decode(path.read_bytes())
    return found


@functools.cache
def operations() -> dict[str, Operation]:
    """By id, as `issues/create`."""
    found = {}
    for template, item in description()["paths"].items():
        for method, spec in item.items():
            if method in ("get", "post", "put", "patch", "delete"):
                own = Operation(
                    id=spec["operationId"], method=method.upper(), template=template, spec=spec
                )
                found[own.id] = own
    return found


@functools.cache
def _patterns() -> list[tuple[re.Pattern[str], Operation]]:
    def group(found: re.Match[str]) -> str:
        if found[1] == "path":
            return ".*"
        return ".+" if found[1] in _LONG else "[^/]+"

    ordered = sorted(
        operations().values(), key=lambda own: -len(re.sub(r"{[\w-]+}", "", own.template))
    )
    return [(re.compile(re.sub(r"{([\w-]+)}", group, own.template)), own) for own in ordered]


@functools.lru_cache(maxsize=4096)
def find(method: str, path: str) -> Operation:
    """The operation that a request asks for. GitHub's own links name a repository by its id, which
    the description leaves out."""
    path = re.sub(r"^/repositories/\d+", "/repos/owner/repo", path)
    for pattern, own in _patterns():
        if own.method == method and pattern.fullmatch(path):
            return own
    raise NotDescribed(f"GitHub has no {method} {path}")


def validate_request(
    method: str,
    path: str,
    query: Mapping[str, str] | None = None,
    body: Any = None,
) -> str:
    """The operation's id, or NotDescribed with what is wrong. `path` is percent-encoded and has
    no query; `body` is JSON data, None for none."""
    own = find(method, path)
    _validate_query(own, query or {})
    described = own.spec.get("requestBody")
    if body is None:
        if described and described.get("required"):
            raise NotDescribed(f"{own.id} needs a body")
        return own.id
    if not described:
        raise NotDescribed(f"{own.id} takes no body")
    for problem in _request_validator(own.id).iter_errors(body):
        raise NotDescribed(f"{own.id}: {_place(problem)}: {problem.message}")
    return own.id


def _validate_query(own: Operation, query: Mapping[str, str]) -> None:
    described = {each["name"]: each for each in parameters(own) if each["in"] == "query"}
    for name, value in query.items():
        if name not in described:
            raise NotDescribed(f"{own.id} has no query parameter {name!r}")
        schema = resolve(described[name]["schema"])
        wrong = list(_validator(schema).iter_errors(_typed(schema, unquote(value))))
        if wrong:
            raise NotDescribed(f"{own.id}: {name}={value}: {wrong[0].message}")
    missing = [n for n, each in described.items() if each.get("required") and n not in query]
    if missing:
        raise NotDescribed(f"{own.id} needs the query parameters {missing}")


def parameters(own: Operation) -> list[dict[str, Any]]:
    item = description()["paths"][own.template]
    return [
        resolve(each) for each in (*item.get("parameters", ()), *own.spec.get("parameters", ()))
    ]


def resolve(thing: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in thing:
        found: Any = description()
        for part in thing["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        thing = found
    return thing


def _typed(schema: dict[str, Any], value: str) -> Any:
    """A query's text as what it stands for."""
    match schema.get("type"):
        case "integer" if re.fullmatch(r"-?\d+", value):
            return int(value)
        case "boolean" if value in ("true", "false"):
            return value == "true"
        case "array":
            return value.split(",")
    return value


def validate_answer(method: str, path: str, status: int, body: Any, *, operation: str = "") -> str:
    """The operation's id, or NotDescribed. Redirects, refusals for missing credentials or rights
    and unknown paths are common to all operations and need not be in each description."""
    own = operations()[operation] if operation else find(method, path)
    answers = own.spec["responses"]
    if str(status) not in answers:
        if status >= 300:
            return own.id
        raise NotDescribed(f"{own.id} does not answer {status}, only {sorted(answers)}")
    content = resolve(answers[str(status)]).get("content", {})
    if "application/json" not in content:
        # A refusal always has its message, whether the description says so or not.
        if body is not None and status < 300:
            raise NotDescribed(f"{own.id} answers {status} without a body")
        return own.id
    _raise_first(own.id, _answer_validator(own.id, str(status)), body)
    return own.id


def validate_webhook(event: str, action: str | None, payload: Any) -> str:
    """The webhook's name in the description, or NotDescribed."""
    name = event.replace("_", "-") + (f"-{action.replace('_', '-')}" if action else "")
    if name not in description()["x-webhooks"]:
        raise NotDescribed(f"GitHub has no webhook {name}")
    _raise_first(name, _webhook_validator(name), payload)
    return name


def _raise_first(name: str, validator: Any, value: Any) -> None:
    for problem in validator.iter_errors(value):
        place = _place(problem)
        if not any(own == name and re.fullmatch(where, place) for own, where in EXCEPTIONS):
            raise NotDescribed(f"{name}: {place}: {problem.message[:300]}")


def _place(problem: Any) -> str:
    return "/".join(str(part) for part in problem.instance_path)


@functools.cache
def _request_validator(operation: str) -> Any:
    content = resolve(operations()[operation].spec["requestBody"])["content"]
    return _validator(content["application/json"]["schema"], strict=True)


@functools.cache
def _answer_validator(operation: str, status: str) -> Any:
    answer = resolve(operations()[operation].spec["responses"][status])
    return _validator(answer["content"]["application/json"]["schema"])


@functools.cache
def _webhook_validator(name: str) -> Any:
    body = description()["x-webhooks"][name]["post"]["requestBody"]
    return _validator(body["content"]["application/json"]["schema"])


def _validator(schema: dict[str, Any], *, strict: bool = False) -> Any:
    """Of one schema, with the definitions that it needs and no others."""
    definitions: dict[str, Any] = {}
    waiting = list(_references(schema))
    while waiting:
        name = waiting.pop()
        if name not in definitions:
            found = description()["components"]["schemas"][name]
            definitions[name] = translate(found, strict=strict)
            waiting.extend(_references(found))
    whole = {**translate(schema, strict=strict), "$defs": definitions}
    return jsonschema_rs.validator_for({**whole, "$schema": _DRAFT})


_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def _references(thing: Any) -> Iterator[str]:
    if isinstance(thing, dict):
        reference = thing.get("$ref")
        if isinstance(reference, str):
            yield reference.rpartition("/")[2]
        for each in thing.values():
            yield from _references(each)
    elif isinstance(thing, list):
        for each in thing:
            yield from _references(each)


def translate(schema: Any, *, strict: bool) -> Any:
    """OpenAPI 3.0 as JSON Schema: `nullable`, and where the definitions are. With `strict` an
    object that lists its properties has no others."""
    if isinstance(schema, list):
        return [translate(each, strict=strict) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": "#/$defs/" + schema["$ref"].rpartition("/")[2]}
    left_out = ("nullable", "example", "examples", "discriminator", "xml", "externalDocs")
    made = {k: v for k, v in schema.items() if k not in left_out}
    for name in ("properties", "patternProperties"):
        if name in made:
            made[name] = {k: translate(v, strict=strict) for k, v in made[name].items()}
    for name in ("items", "additionalProperties", "not", "allOf", "anyOf", "oneOf"):
        if name in made:
            made[name] = translate(made[name], strict=strict)
    if strict and "properties" in made and "additionalProperties" not in made:
        made["additionalProperties"] = False
    if schema.get("nullable"):
        return {"anyOf": [made, {"type": "null"}]}
    return made


@functools.cache
def graphql_fields() -> dict[str, dict[str, set[str]]]:
    """Of GitHub's GraphQL schema: for each type its fields, and for each the arguments."""
    text = (PACKAGES / "graphql-schema" / "schema.graphql").read_text(encoding="utf-8")
    text = re.sub(r'""".*?"""', "", text, flags=re.DOTALL)
    found: dict[str, dict[str, set[str]]] = {}
    for kind in re.finditer(
        r"^(?:type|interface|input) (\w+)[^{\n]*\{(.*?)^\}", text, re.DOTALL | re.MULTILINE
    ):
        fields = {}
        for field in re.finditer(
            r"^  (\w+)(?:\((.*?)\n  \)|\(([^)]*)\))?:", kind[2], re.DOTALL | re.MULTILINE
        ):
            arguments = field[2] or field[3] or ""
            fields[field[1]] = set(re.findall(r"(\w+):", arguments))
        found[kind[1]] = fields
    return found
