"""An event of OpenLineage, for catalogs and schedulers: each table is a dataset with the assertions of its policy.

The facet is DataQualityAssertionsDatasetFacet 1-0-1, whose fields every later version has. The tables of a Postgres
server are named by OpenLineage's rules, so that they are the datasets of dbt, Airflow and Spark.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from qidsql.core.results import Verdict
from qidsql.formats.junit import against, required, requirement
from qidsql.operations.coverage import Gap
from qidsql.operations.document import BROKEN, RunResult
from qidsql.operations.table_run import TableRun
from qidsql.wording.texts import without_controls

SPECIFICATION = "https://openlineage.io/spec"
EVENT = f"{SPECIFICATION}/2-0-2/OpenLineage.json#/$defs/RunEvent"
FACET = f"{SPECIFICATION}/facets/1-0-1/DataQualityAssertionsDatasetFacet.json#/$defs/DataQualityAssertionsDatasetFacet"
VERDICT = "meets the policy"
COVERED = "in the policy"


def written(document: RunResult) -> Iterator[str]:
    """One event, without counts of rows. A table without a verdict fails an assertion."""
    producer = f"pkg:pypi/qidsql@{document.qidsql}"
    labels: dict[str, str] = {}
    first = next(iter(document.tables), None)
    subject = document.file or (first.table if first else "")
    event = {
        "eventType": "COMPLETE" if document.complete else "ABORT",
        "eventTime": document.finished.isoformat(),
        "producer": producer,
        "schemaURL": EVENT,
        "run": {"runId": str(uuid5(NAMESPACE_URL, f"qidsql {document.run or document.started} {subject}"))},
        "job": {"namespace": "qidsql", "name": without_controls(subject) or "run"},
    }
    del first
    yield json.dumps(event, ensure_ascii=False)[:-1] + ', "inputs": ['
    comma = ""
    for table in document.tables:
        labels[table.source] = table.source_label
        yield comma + _dataset(table.source_label, table.table, _assertions(table), producer)
        comma = ", "
    for gap in document.coverage.violations if document.coverage else ():
        yield comma + _dataset(labels.get(gap.source, gap.source), gap.table, [_uncovered(gap)], producer)
        comma = ", "
    yield "]}\n"


def _dataset(label: str, table: str, assertions: list[dict[str, Any]], producer: str) -> str:
    namespace, name = _named(without_controls(label), without_controls(table))
    facet = {"_producer": producer, "_schemaURL": FACET, "assertions": assertions}
    dataset = {"namespace": namespace, "name": name, "inputFacets": {"dataQualityAssertions": facet}}
    return json.dumps(dataset, ensure_ascii=False)


def _named(label: str, table: str) -> tuple[str, str]:
    """Namespace and name; those of a Postgres server as OpenLineage writes them."""
    server = re.fullmatch(r"postgres(?:ql)?://(?:[^@/]*@)?([^/?,]*?)(?::(\d+))?/([^/?]+)(?:\?.*)?", label)
    if server is None or not server[1]:
        return label, table
    return f"postgres://{server[1]}:{server[2] or 5432}", f"{server[3]}.{table}"


def _assertions(table: TableRun) -> list[dict[str, Any]]:
    """What the policy requires of the table, and whether it is met; what single columns are found for."""
    found = [] if table.verdict is Verdict.FINISHED else [_assertion(VERDICT, table.verdict is Verdict.PASS)]
    if table.unchanged:
        found.append(_assertion(table.unchanged.text, True))
    policy = table.audit.account.policy if table.audit else None
    for kind in required(policy) if policy else ():
        violated = bool(against(table, kind))
        if violated or table.verdict not in BROKEN:
            assert policy is not None
            found.append(_assertion(requirement(policy, kind), not violated))
    return found + [
        _assertion(each.kind, False, each.columns[0]) for each in table.open_findings if len(each.columns) == 1
    ]


def _uncovered(gap: Gap) -> dict[str, Any]:
    return _assertion(COVERED, False, gap.column)


def _assertion(name: str, success: bool, column: str | None = None) -> dict[str, Any]:
    of = {} if column is None else {"column": without_controls(column)}
    return {"assertion": without_controls(name), "success": success, **of}
