"""The request of `demo`, and its sample database: a made-up clinic with no real person in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from qidsql.commands.audit.command import AuditRequest
from qidsql.declarations.options import Command, Option

# A sample database to try everything on: a made-up clinic with no real person in it.


PATIENTS = 20_000
AUDIT = AuditRequest("patients", k=5, sensitive=("diagnosis",))
NEXT_STEPS = """
What just happened: qidsql made a small clinic's database and audited its table patients, as this command would:
  qidsql audit clinic.duckdb patients --k 5 --sensitive diagnosis
Try next:
{first}  qidsql audit {path} patients --k 5 --sensitive diagnosis --exclude birth_date
  qidsql protect {path} patients --k 5 --by values --sensitive diagnosis --identifier record_number
  qidsql audit {path} visits --entity patient_id --identifier visit_id
Your own data: qidsql audit SOURCE TABLE (SOURCE: a Postgres URL, a DuckDB database, a data file or a folder of them)
"""


def write_demo(path: Path) -> None:
    """Make the sample database at `path`, always with the same rows. Raises SourceError if the file exists."""
    from qidsql.engines.duckdb.store import write_sample

    write_sample(path, PATIENTS)


@dataclass(frozen=True, kw_only=True)
class DemoRequest:
    """Make a sample database and audit it: the two-minute tour.

    Its clinic is made up: 20,000 patients, 60,000 visits. The exit code is 0 although the audit finds a violation,
    since finding it is the purpose of the demo.
    """

    keep: Annotated[Path | None, Option("keep the sample database in this file", "FILE")] = None


COMMAND = Command(
    DemoRequest,
    examples=("qidsql demo --keep clinic.duckdb",),
    exit_codes="0 finished, 2 error",
    formats=("terminal",),
    without=("source", "format", "output", "dry_run", "show_sql", "workers", "snapshot"),
)
