"""The JSON Schema of qidsql.toml: editors use it, and `policy_file` validates with it.

Sources, exceptions and alerts declare their keys with their classes, settings with the options of `audit`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, get_args

from qidsql.commands.audit.command import AuditRequest
from qidsql.core.files import KeyPath
from qidsql.core.options import Keep
from qidsql.core.policy import Release
from qidsql.declarations.options import FORMS, Names, Parameter, Ratio, parameters
from qidsql.declarations.results import keys_schema
from qidsql.operations.alerts.settings import Alert
from qidsql.operations.policy_entries import PRESETS, Exemption, SourceEntry
from qidsql.operations.schema_check import schema_problems

Schema: TypeAlias = "dict[str, Any]"

POLICY_FORMAT = 1  # of the file


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
    if form is FORMS[Names]:
        return list_of(string_schema("a column"), words)
    if form is FORMS[bool]:
        return {"type": "boolean", "description": words}
    if form is FORMS[int]:
        return integer_schema(words, 2 if parameter.name == "k" else 1)
    return seconds_schema(words) if form is FORMS[float] else string_schema(words)


SETTINGS = tuple(each.name for each in parameters(AuditRequest) if each.option.in_policies)
COMMON: Schema = {
    "preset": {
        "enum": list(PRESETS),
        "description": "k by name. " + "; ".join(f"{name}: {preset.source}" for name, preset in PRESETS.items()),
    },
    **{each.name: option_schema(each) for each in parameters(AuditRequest) if each.option.in_policies},
    "keep": list_of(string_schema("a column"), f"of copies: {get_args(Keep)[1].help}"),
    "hierarchies": string_schema(
        "a folder or a .toml file with levels of columns (--hierarchies of protect and audit)"
    ),
    "on_new": {
        "enum": list(ON_NEW),
        "description": "the severity of tables and columns in no entry; default: violation if the role proposed for "
        "them identifies people, else a warning",
    },
    "assistants": {
        "type": "boolean",
        "description": "false: for assistants (qidsql mcp) the table does not exist; default: true",
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
    "exceptions": list_of(keys_schema(Exemption), "findings that are accepted"),
}
TABLE = object_of(
    "a table to audit, or several by a pattern",
    {
        "source": string_schema("the name of the source; optional if there is only one"),
        "table": string_schema("schema and name, or a pattern such as public.visits_*"),
        "audit": {"type": "boolean", "description": "false: known, and left out of the audit"},
        **COMMON,
    },
)
ALERT = keys_schema(Alert)
POLICY_SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "qidsql.toml",
    **object_of(
        "the policy file: what qidsql run audits, and what is allowed",
        {
            "format": {"type": "integer", "enum": [POLICY_FORMAT], "description": "the format of this file"},
            "sources": mapping_to("the databases and data files, by names of your choice", keys_schema(SourceEntry)),
            "defaults": object_of("defaults for all tables", COMMON),
            "tables": list_of(TABLE, "the tables to audit"),
            "run": object_of(
                "the budget of a whole run; tables not audited by then are inconclusive",
                {
                    "max_statements": integer_schema(f"the most statements to run; {FEWER}"),
                    "max_seconds": seconds_schema("the most seconds to run"),
                    "max_bytes": string_schema("the most bytes that statements read, such as 1TB"),
                },
            ),
            "history": object_of(
                "where runs are recorded; default: qidsql-history.duckdb beside this file",
                {
                    "url": string_schema("the path of a DuckDB file, or env:NAME of a Postgres URL"),
                    "schema": string_schema("the schema of a Postgres history; default: qidsql"),
                },
            ),
            "release": keys_schema(Release),
            "alerts": mapping_to("where to send messages, by names of your choice", ALERT),
            "weights": mapping_to("column weights for --weights FILE.toml", integer_schema("a weight")),
        },
    ),
}


def problems(
    value: object, schema: Mapping[str, Any] = POLICY_SCHEMA, path: KeyPath = ()
) -> Iterator[tuple[KeyPath, str]]:
    """The errors of a policy file, or of a part of one, each with the path of its key."""
    return schema_problems(value, schema, path)
