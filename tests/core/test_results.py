"""Results in other forms."""

import subprocess
import sys

from tests.commandline import environment

BY_ITS_PARTS = """
import duckdb
from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest
from qidsql.engines.connect import connect
connection = duckdb.connect()
connection.execute("CREATE TABLE t AS SELECT i % 7 AS a FROM range(70) AS r(i)")
with connect(connection) as engine:
    result = audit(engine, AuditRequest("t"))
assert "<html" in result.to_html() and "10-anonymous" in result.to_markdown() and result._repr_html_()
assert len(result.to_frame("columns")) == 1
"""


def test_a_result_that_was_made_without_the_functions_of_the_package_has_all_forms() -> None:
    done = subprocess.run([sys.executable, "-c", BY_ITS_PARTS], env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
