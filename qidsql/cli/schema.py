"""qidsql schema"""

from enum import StrEnum
from typing import Annotated

import typer

from qidsql.cli.streams import check_output, write
from qidsql.core.options import OutputOption


class Schema(StrEnum):
    """What has a published schema: the JSON of these commands, and the policy file."""

    audit = "audit"
    run = "run"
    policy = "policy"
    profile = "profile"
    keys = "keys"
    mask = "mask"
    uniques = "uniques"
    suppress = "suppress"
    anonymize = "anonymize"
    impact = "impact"
    graph = "graph"
    link = "link"
    init = "init"
    history = "history"
    alerts = "alerts"
    diff = "diff"
    doctor = "doctor"


EXAMPLES = """\b
Examples:
  qidsql schema audit
  qidsql schema keys
  qidsql schema policy --output qidsql.core.tables.json
Exit codes: 0 written, 2 error"""


def run(
    of: Annotated[
        Schema, typer.Argument(metavar="NAME", help=f"whose schema: {', '.join(Schema)}", show_default=False)
    ],
    output: OutputOption = None,
) -> None:
    """Prints the JSON Schema of what a command writes with --format json, or of the policy file qidsql.toml."""
    import json

    from qidsql.formats import command_schemas, json_schema
    from qidsql.operations.policy_schema import POLICY_SCHEMA

    check_output(output)
    own = {Schema.audit: json_schema.audit(), Schema.run: json_schema.run(), Schema.policy: POLICY_SCHEMA}
    schema = own[of] if of in own else command_schemas.command(of)
    write(json.dumps(schema, indent=2) + "\n", output)
