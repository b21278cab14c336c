"""CSV for spreadsheets: a line for each finding and coverage gap, and one for each table without findings.

Each line begins with the columns of its table, so that lines can be filtered and sorted. Shares and ratios have a
decimal point; unknown or hidden fields are empty. A text that a spreadsheet would evaluate as a formula (column names
are not trusted) is prefixed with an apostrophe. [OWASP, CSV Injection]
"""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from qidsql.core.results import Verdict
from qidsql.operations.document import RunResult
from qidsql.operations.table_run import MEASURED, Finding, TableRun

SUBJECT = ("source", "table", "owner", "verdict", "finding", "state", "columns")
COLUMNS = (*SUBJECT, *MEASURED, "accepted", "expires", "text", "run", "started", "id", "unchanged_since")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # the first characters of formulas


def written(document: RunResult) -> Iterator[str]:
    """The lines, as in RFC 4180; the first has the names of the fields."""
    run = {"run": document.run, "started": document.started.isoformat()}
    yield _line(dict.fromkeys(COLUMNS, "") | {name: name for name in COLUMNS})
    for table in document.tables:
        for finding in table.findings or [None]:
            yield _line({**run, **_of_table(table), **(_of_finding(finding) if finding else {})})
    for gap in document.gaps:
        place = {"source": gap.source, "table": gap.table, "owner": gap.owner or ""}
        found = {"finding": "coverage", "state": gap.state, "columns": gap.column or "", "text": gap.text}
        yield _line({**run, **place, "verdict": document.waived or document.verdict, **found, "id": gap.id})
    for source in document.coverage.sources if document.coverage else ():
        if source.error:
            found = {"finding": "coverage", "verdict": Verdict.ERROR, "text": source.error}
            yield _line({**run, "source": source.source, **found})


def _of_table(table: TableRun) -> dict[str, Any]:
    verdict = table.waived or table.verdict
    return {"source": table.source, "table": table.table, "owner": table.owner or "", "verdict": verdict} | {
        "text": table.sentence,
        "unchanged_since": table.unchanged.started.date() if table.unchanged else "",
    }


def _of_finding(finding: Finding) -> dict[str, Any]:
    accepted = finding.exception
    return {
        "finding": finding.kind,
        "state": finding.state,
        "columns": ", ".join(finding.columns),
        **{name: value for name, value in finding.measures.to_plain().items() if name in COLUMNS},
        "accepted": accepted.reason if accepted else "",
        "expires": accepted.expires or "" if accepted else "",
        "text": finding.text,
        "id": finding.id,
    }


def _line(fields: Mapping[str, Any]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow([_field(fields.get(name)) for name in COLUMNS])
    return line.getvalue()


def _field(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) and not isinstance(value, int | float) else text
