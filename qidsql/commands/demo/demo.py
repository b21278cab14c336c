"""A sample database to try everything on: a made-up clinic. No real person is in it."""

from pathlib import Path

from qidsql.commands.audit.request import AuditRequest
from qidsql.errors import SourceError
from qidsql.sql.templates import fill

PATIENTS = 20_000
STORAGE = "v1.2.0"  # of the file, so that the shells that are about can open it too
AUDIT = AuditRequest("patients", k=5, sensitive=("diagnosis",))
NEXT_STEPS = """
What just happened: qidsql made a small clinic's database and audited its table patients, as this command would:
  qidsql audit clinic.duckdb patients --k 5 --sensitive diagnosis
Try next:
{first}  qidsql audit {path} patients --k 5 --sensitive diagnosis --exclude birth_date
  qidsql profile {path} patients -c zip_code -c birth_date -c sex --show-sql
  qidsql audit {path} visits --entity patient_id --identifier visit_id
Your own data: qidsql audit SOURCE TABLE (SOURCE: a Postgres URL, a DuckDB database, a data file or a folder of them)
"""


def write_demo(path: Path) -> None:
    """Makes the sample database at `path`, the same rows every time. Raises SourceError when the file exists."""
    import duckdb

    if path.exists():
        raise SourceError(f"{path} exists already; name another file, or remove it first")
    try:
        with duckdb.connect(str(path), config={"storage_compatibility_version": STORAGE}) as connection:
            for name in ("patients", "visits"):
                connection.execute(fill(f"demo/{name}", patients=PATIENTS).sql("duckdb"))
    except duckdb.Error as error:
        raise SourceError(
            f"{path} cannot be written ({type(error).__name__}); choose a folder you may write to"
        ) from None
