"""What may stand in qidsql.toml, said once: as the JSON Schema that editors take, and that `policy_file` reads by.

`problems` understands the few words of JSON Schema that are used here; a test holds it to the jsonschema package.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias

from qidsql.commands.audit.request import AuditRequest
from qidsql.core.toml_file import KeyPath, unknown_key
from qidsql.declarations.options import FORMS, Parameter, Ratio, parameters
from qidsql.operations.presets import PRESETS
from qidsql.operations.table_run import FindingKind

Schema: TypeAlias = "dict[str, Any]"

FORMAT = 1  # of the file


ROLES = ("direct identifier", "quasi-identifier", "sensitive", "other")
FEWER = "DuckDB needs fewer than Postgres for the same work"
ON_NEW = ("violation", "warn", "ignore")
RATIO = "a ratio above 0 and at most 1, or a text such as 9/10 or 90%"


def text(description: str, **more: object) -> Schema:
    return {"type": "string", "minLength": 1, "description": description, **more}


def whole(description: str, least: int = 1, **more: object) -> Schema:
    return {"type": "integer", "minimum": least, "description": description, **more}


def seconds(description: str) -> Schema:
    return {"type": "number", "exclusiveMinimum": 0, "description": description}


def ratio(description: str) -> Schema:
    return {"type": ["number", "string"], "description": f"{description}: {RATIO}"}


def several(items: Schema, description: str) -> Schema:
    return {"type": "array", "items": items, "description": description}


def table(description: str, keys: Schema, required: tuple[str, ...] = ()) -> Schema:
    """A table of which all keys are known."""
    closed: Schema = {"type": "object", "properties": keys, "additionalProperties": False, "description": description}
    return {**closed, "required": list(required)} if required else closed


def named(description: str, each: Schema) -> Schema:
    """A table whose keys are names that the user gives."""
    return {"type": "object", "additionalProperties": each, "description": description}


def option(parameter: Parameter) -> Schema:
    """The key of an option of `audit`, by the kind of its values. What else holds for it is checked by `Policy`."""
    words, form = parameter.option.help, parameter.form
    if "|" in parameter.option.metavar:
        return {"enum": parameter.option.metavar.split("|"), "description": words}
    if form is FORMS[Ratio]:
        return ratio(f"forbidden are {words}")
    if form is FORMS[bool]:
        return {"type": "boolean", "description": words}
    if form is FORMS[int]:
        return whole(words, 2 if parameter.name == "k" else 1)
    return seconds(words) if form is FORMS[float] else text(words)


SETTINGS = tuple(each.name for each in parameters(AuditRequest) if each.option.in_policies)
EXCEPTION = table(
    "a finding that is accepted, by its kind, its columns or both",
    {
        "finding": {"enum": [str(kind) for kind in FindingKind], "description": "the kind of finding"},
        "columns": several(text("the name of a column"), "exactly the columns of the finding"),
        "reason": text("why it is accepted, and by whom"),
        "expires": text(
            "the last day on which it is accepted, such as 2027-03-31", format="date", pattern=r"^\d{4}-\d\d-\d\d$"
        ),
    },
    required=("reason", "expires"),
)
COMMON: Schema = {
    "preset": {
        "enum": list(PRESETS),
        "description": "k by name. " + "; ".join(f"{name}: {preset.source}" for name, preset in PRESETS.items()),
    },
    **{each.name: option(each) for each in parameters(AuditRequest) if each.option.in_policies},
    "on_new": {
        "enum": list(ON_NEW),
        "description": "what tables and columns are that no entry names; default: a violation where a role is proposed "
        "for them that identifies people, else a warning",
    },
    "owner": text("who is told of the table, such as a team or an address"),
    "roles": named(
        "what a column is; one that is not named is audited",
        {"enum": list(ROLES), "description": "other is left out of the audit, as not published"},
    ),
    "weights": named(
        "what it costs to withhold a column, else 1: of the fewest to withhold the lightest are told",
        whole("a weight"),
    ),
    "exceptions": several(EXCEPTION, "findings that are accepted"),
}
SOURCE = table(
    "a database or data files",
    {
        "url": text("env:NAME of a variable that holds the URL, a path, or a URL without a password"),
        "workers": {**whole("parallel sessions on a server"), "maximum": 64},
        "snapshot": {"type": "boolean", "description": "one snapshot for all statements on a table"},
        "gentle": {"type": "boolean", "description": "one session of a server, with a pause after each statement"},
        "scope": several(
            text("schema and name, or a pattern such as public.*"),
            "the tables that this file answers for; others are counted and not held against it; default: all",
        ),
    },
    required=("url",),
)
TABLE = table(
    "a table to audit, or several by a pattern",
    {
        "source": text("which source, by its name; may be left out where there is one"),
        "table": text("schema and name, or a pattern such as public.visits_*"),
        "audit": {"type": "boolean", "description": "false: known, and left out of the audit"},
        **COMMON,
    },
)
SECRET = r"^(env|file):."
ALERT = table(
    "whom to tell when a table's verdict changes, and when it passes again",
    {
        "kind": {
            "enum": ["webhook", "slack", "teams", "command", "email"],
            "description": "webhook: our JSON; slack and teams: their shapes; command: our JSON on its stdin",
        },
        "on": several(
            {"enum": ["violation", "worse", "error", "inconclusive"]},
            "what it tells of: verdicts, and violations that got worse; default: all of these",
        ),
        "owners": several(text("an owner"), "only tables of these owners"),
        "tables": several(text("a table or a pattern"), "only these tables"),
        "snooze": several(
            table(
                "silent on tables until a day",
                {
                    "table": text("a table or a pattern; default: every table"),
                    "until": text(
                        "the day from which on it is told again, such as 2026-12-01", pattern=r"^\d{4}-\d\d-\d\d$"
                    ),
                    "reason": {"type": "string", "description": "why"},
                },
                required=("until",),
            ),
            "tables that nothing is told of for a while",
        ),
        "timeout": {**whole("seconds for one attempt; default: 10"), "maximum": 300},
        "attempts": {**whole("attempts in one run; default: 3"), "maximum": 10},
        "url": text("env:NAME or file:PATH of the address; the address itself is a secret", pattern=SECRET),
        "headers": named(
            "headers of a webhook, such as Authorization", text("env:NAME or file:PATH of the value", pattern=SECRET)
        ),
        "command": several(text("a word"), "a program and its arguments; no shell"),
        "smtp": text("env:NAME or file:PATH of smtp://user:password@host:587 or smtps://host", pattern=SECRET),
        "from": text("the sender's address"),
        "to": several(text("an address"), "the receivers' addresses"),
    },
    required=("kind",),
)
POLICY_SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "qidsql.toml",
    **table(
        "what qidsql run audits, and what is allowed",
        {
            "format": {"type": "integer", "enum": [FORMAT], "description": "the format of this file"},
            "sources": named("what can be audited, by names of your own", SOURCE),
            "defaults": table("for every table that does not say otherwise", COMMON),
            "tables": several(TABLE, "the tables to audit"),
            "run": table(
                "the budget of a whole run; what is not begun by then is inconclusive",
                {
                    "max_statements": whole(f"statements to ask of all tables at most; {FEWER}"),
                    "max_seconds": seconds("seconds to work at most"),
                },
            ),
            "history": table(
                "where runs are kept; default: qidsql-history.duckdb beside this file",
                {
                    "url": text("a path of a DuckDB file, or env:NAME of a Postgres URL"),
                    "schema": text("the schema of a Postgres history; default: qidsql"),
                },
            ),
            "alerts": named("whom to tell, by names of your own", ALERT),
            "weights": named("column weights for --weights FILE.toml", whole("a weight")),
        },
    ),
}
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
WORDS = {
    "string": "a text in quotes",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list in brackets",
    "object": "a table",
}


def problems(
    value: object, schema: Mapping[str, Any] = POLICY_SCHEMA, path: KeyPath = ()
) -> Iterator[tuple[KeyPath, str]]:
    """What is wrong with a value, each with the path of its key. Values are never repeated: they may be secrets."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        if schema.get("items", {}).get("type") == "object":
            words = f"[[{'.'.join(part for part in path if isinstance(part, str))}]] in double brackets, once for each"
        else:
            words = " or ".join(WORDS[kind] for kind in kinds)
        yield path, f"expected {words}{_meaning(schema)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        near = get_close_matches(str(value).lower(), list(map(str, schema["enum"])), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        yield path, f"expected {' or '.join(map(str, schema['enum']))}{hint}"
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield path, f"expected {WORDS['string']}, got an empty one{_meaning(schema)}"
        elif not re.search(schema.get("pattern", ""), value):
            yield path, f"expected {schema['description']}"
    elif isinstance(value, (int, float)):
        if value < schema.get("minimum", value):
            yield path, f"expected at least {schema['minimum']}, got {value}{_meaning(schema)}"
        if value > schema.get("maximum", value):
            yield path, f"expected at most {schema['maximum']}, got {value}{_meaning(schema)}"
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            yield path, f"expected more than {schema['exclusiveMinimum']}, got {value}{_meaning(schema)}"
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from problems(each, schema.get("items", {}), (*path, place))
    elif isinstance(value, dict):
        yield from _keys(value, schema, path)


def _keys(value: Mapping[str, object], schema: Mapping[str, Any], path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for key, each in value.items():
        if key in known:
            yield from problems(each, known[key], (*path, key))
        elif isinstance(others, dict):
            yield from problems(each, others, (*path, key))
        elif not others:
            yield (*path, key), unknown_key(key, known)
    for key in schema.get("required", []):
        if key not in value:
            yield path, f"{key} is missing{_meaning(known[key])}"


def _is(value: object, kind: str) -> bool:
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _meaning(schema: Mapping[str, Any]) -> str:
    return f" ({schema['description']})" if "description" in schema else ""
