"""The JSON Schema of qidsql.toml: editors use it, and `policy_file` validates with it.

`problems` implements the few keywords of JSON Schema used here; a test compares it with the jsonschema package.
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
FEWER = "DuckDB needs fewer than Postgres for the same audit"
ON_NEW = ("violation", "warn", "ignore")
RATIO = "a ratio above 0 and at most 1, or a text such as 9/10 or 90%"


def string_schema(description: str, **more: object) -> Schema:
    return {"type": "string", "minLength": 1, "description": description, **more}


def integer_schema(description: str, least: int = 1, **more: object) -> Schema:
    return {"type": "integer", "minimum": least, "description": description, **more}


def seconds_schema(description: str) -> Schema:
    return {"type": "number", "exclusiveMinimum": 0, "description": description}


def ratio_schema(description: str) -> Schema:
    return {"type": ["number", "string"], "description": f"{description}: {RATIO}"}


def list_of(items: Schema, description: str) -> Schema:
    return {"type": "array", "items": items, "description": description}


def object_of(description: str, keys: Schema, required: tuple[str, ...] = ()) -> Schema:
    """An object with these keys and no others."""
    closed: Schema = {"type": "object", "properties": keys, "additionalProperties": False, "description": description}
    return {**closed, "required": list(required)} if required else closed


def mapping_to(description: str, each: Schema) -> Schema:
    """An object whose keys are names chosen by the user."""
    return {"type": "object", "additionalProperties": each, "description": description}


def option_schema(parameter: Parameter) -> Schema:
    """The schema of an option of `audit`, by its type. `Policy` checks the values."""
    words, form = parameter.option.help, parameter.form
    if "|" in parameter.option.metavar:
        return {"enum": parameter.option.metavar.split("|"), "description": words}
    if form is FORMS[Ratio]:
        return ratio_schema(f"forbidden: {words}")
    if form is FORMS[bool]:
        return {"type": "boolean", "description": words}
    if form is FORMS[int]:
        return integer_schema(words, 2 if parameter.name == "k" else 1)
    return seconds_schema(words) if form is FORMS[float] else string_schema(words)


SETTINGS = tuple(each.name for each in parameters(AuditRequest) if each.option.in_policies)
DAY = r"^\d{4}-\d\d-\d\d$"
EXCEPTION = object_of(
    "a finding that is accepted, by its kind, its columns or both",
    {
        "finding": {"enum": [str(kind) for kind in FindingKind], "description": "the kind of finding"},
        "columns": list_of(string_schema("the name of a column"), "exactly the columns of the finding"),
        "reason": string_schema("why it is accepted, and by whom"),
        "expires": string_schema(
            "the last day on which it is accepted, such as 2027-03-31", format="date", pattern=DAY
        ),
    },
    required=("reason", "expires"),
)
COMMON: Schema = {
    "preset": {
        "enum": list(PRESETS),
        "description": "k by name. " + "; ".join(f"{name}: {preset.source}" for name, preset in PRESETS.items()),
    },
    **{each.name: option_schema(each) for each in parameters(AuditRequest) if each.option.in_policies},
    "on_new": {
        "enum": list(ON_NEW),
        "description": "the severity of tables and columns in no entry; default: violation if the role proposed for "
        "them identifies people, else a warning",
    },
    "owner": string_schema("the owner of the table, such as a team or an address; alerts can select by it"),
    "roles": mapping_to(
        "the role of each column; columns without a role are audited",
        {"enum": list(ROLES), "description": "other: not published, so left out of the audit"},
    ),
    "weights": mapping_to(
        "the cost of withholding a column, default 1: among the smallest sets to withhold, the lightest is reported",
        integer_schema("a weight"),
    ),
    "exceptions": list_of(EXCEPTION, "findings that are accepted"),
}
SOURCE = object_of(
    "a database or data files",
    {
        "url": string_schema("env:NAME of a variable with the URL, a path, or a URL without a password"),
        "workers": {**integer_schema("parallel sessions on a server"), "maximum": 64},
        "snapshot": {"type": "boolean", "description": "one snapshot for all statements on a table"},
        "gentle": {"type": "boolean", "description": "one session on a server, with a pause after each statement"},
        "scope": list_of(
            string_schema("schema and name, or a pattern such as public.*"),
            "the tables that this file is responsible for; others are only counted; default: all",
        ),
    },
    required=("url",),
)
TABLE = object_of(
    "a table to audit, or several by a pattern",
    {
        "source": string_schema("the name of the source; optional if there is only one"),
        "table": string_schema("schema and name, or a pattern such as public.visits_*"),
        "audit": {"type": "boolean", "description": "false: known, and left out of the audit"},
        **COMMON,
    },
)
SECRET = r"^(env|file):."
ALERT = object_of(
    "where to send messages when the verdict of a table changes, also when it passes again",
    {
        "kind": {
            "enum": ["webhook", "slack", "teams", "command", "email"],
            "description": "webhook: JSON; slack and teams: their formats; command: JSON on its stdin",
        },
        "on": list_of(
            {"enum": ["violation", "worse", "error", "inconclusive"]},
            "verdicts to report, and violations that got worse; default: all of these",
        ),
        "owners": list_of(string_schema("an owner"), "only tables of these owners"),
        "tables": list_of(string_schema("a table or a pattern"), "only these tables"),
        "snooze": list_of(
            object_of(
                "sends nothing about tables until a day",
                {
                    "table": string_schema("a table or a pattern; default: every table"),
                    "until": string_schema("the first day with messages again, such as 2026-12-01", pattern=DAY),
                    "reason": {"type": "string", "description": "why"},
                },
                required=("until",),
            ),
            "tables without messages for a while",
        ),
        "timeout": {**integer_schema("seconds for one attempt; default: 10"), "maximum": 300},
        "attempts": {**integer_schema("attempts in one run; default: 3"), "maximum": 10},
        "url": string_schema("env:NAME or file:PATH of the address; the address itself is a secret", pattern=SECRET),
        "headers": mapping_to(
            "headers of a webhook, such as Authorization",
            string_schema("env:NAME or file:PATH of the value", pattern=SECRET),
        ),
        "command": list_of(string_schema("a word"), "a program and its arguments; no shell"),
        "smtp": string_schema("env:NAME or file:PATH of smtp://user:password@host:587 or smtps://host", pattern=SECRET),
        "from": string_schema("the sender's address"),
        "to": list_of(string_schema("an address"), "the receivers' addresses"),
    },
    required=("kind",),
)
RELEASE: Schema = {
    "purpose": string_schema("for what the tables are released"),
    "recipient": string_schema("to whom"),
    "author": string_schema("who answers for this file"),
    "date": string_schema("the day of the release or of the request, such as 2027-03-31", pattern=DAY),
}
POLICY_SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "qidsql.toml",
    **object_of(
        "the policy file: what qidsql run audits, and what is allowed",
        {
            "format": {"type": "integer", "enum": [FORMAT], "description": "the format of this file"},
            "sources": mapping_to("the databases and data files, by names of your choice", SOURCE),
            "defaults": object_of("defaults for all tables", COMMON),
            "tables": list_of(TABLE, "the tables to audit"),
            "run": object_of(
                "the budget of a whole run; tables not audited by then are inconclusive",
                {
                    "max_statements": integer_schema(f"the most statements to run; {FEWER}"),
                    "max_seconds": seconds_schema("the most seconds to run"),
                },
            ),
            "history": object_of(
                "where runs are recorded; default: qidsql-history.duckdb beside this file",
                {
                    "url": string_schema("the path of a DuckDB file, or env:NAME of a Postgres URL"),
                    "schema": string_schema("the schema of a Postgres history; default: qidsql"),
                },
            ),
            "release": object_of("for what and to whom the tables are released, for the report; all optional", RELEASE),
            "alerts": mapping_to("where to send messages, by names of your choice", ALERT),
            "weights": mapping_to("column weights for --weights FILE.toml", integer_schema("a weight")),
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
    """The errors of a value, each with the path of its key. They never repeat a value, which may be a secret."""
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
            yield path, f"expected {WORDS['string']}, got an empty text{_meaning(schema)}"
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
