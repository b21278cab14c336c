"""qidsql schema"""

from enum import StrEnum
from typing import Annotated

import typer

from qidsql.commands.streams import check_output, write
from qidsql.options import OutputOption


class Schema(StrEnum):
    """What has a published schema."""

    audit = "audit"
    run = "run"
    policy = "policy"


EXAMPLES = """\b
Examples:
  qidsql schema audit
  qidsql schema policy --output qidsql.schema.json
Exit codes: 0 written, 2 error"""


def run(
    of: Annotated[Schema, typer.Argument(metavar="audit|run|policy", help="whose schema", show_default=False)],
    output: OutputOption = None,
) -> None:
    """Prints the JSON Schema of what qidsql writes as JSON, an audit or a run, or of the policy file qidsql.toml."""
    import json

    from qidsql.policy_schema import POLICY_SCHEMA
    from qidsql.report import json_schema

    check_output(output)
    schemas = {Schema.audit: json_schema.audit(), Schema.run: json_schema.run(), Schema.policy: POLICY_SCHEMA}
    write(json.dumps(schemas[of], indent=2) + "\n", output)
