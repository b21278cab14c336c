"""A sample database to try everything on: a made-up clinic with no real person in it."""

from pathlib import Path

from qidsql.commands.audit.command import AuditRequest

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
    from qidsql.engines.duckdb.sample import write_sample

    write_sample(path, PATIENTS)
