"""The request of `doctor`: which tables of the source to examine, and for which role."""

from dataclasses import dataclass
from typing import Annotated

from qidsql.core.options import MaxSeconds, Schema
from qidsql.declarations.commands import Command
from qidsql.declarations.options import Option


@dataclass(frozen=True, kw_only=True)
class DoctorRequest:
    """Can this source be audited? Checks connection, rights, row-level security, limits and every table.

    Prints remedies and the least GRANTs that are missing. Reads no table.
    """

    schema: Schema = None
    role: Annotated[str | None, Option("print all GRANTs that this role would need", "NAME")] = None
    max_seconds: MaxSeconds = None


COMMAND = Command(
    DoctorRequest,
    examples=("qidsql doctor env:CLINIC_URL --role auditor",),
    exit_codes="0 all tables can be audited, 2 no connection, 3 some table cannot be audited (or there is none)",
    opens=True,
    without=("dry_run", "show_sql"),
)
