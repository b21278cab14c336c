"""The verdicts of a run's document, derived again from the audits and findings in it."""

from dataclasses import replace

from qidsql.commands.audit.result import AuditResult
from qidsql.commands.judgement import judged_again
from qidsql.core.results import Verdict, worst
from qidsql.operations.changes import verdict_with_exceptions
from qidsql.operations.compact_form import PackedTables
from qidsql.operations.document import RunResult
from qidsql.operations.findings import complete_kinds, findings
from qidsql.operations.table_run import TableRun

OPEN = (Verdict.INCONCLUSIVE, Verdict.ERROR)


def run_judged_again(document: RunResult) -> RunResult | None:
    """The document with the verdicts that follow from its figures; None if it states another one."""
    tables, verdicts = PackedTables(), []
    for table in document.tables:
        anew = _table(table)
        if anew is None:
            return None
        tables.append(anew)
        verdicts.append(anew.verdict)
    covered = [document.coverage.verdict] if document.coverage else []
    agrees = document.verdict is worst([worst(verdicts), *covered])
    return replace(document, tables=tables) if agrees else None


def _table(table: TableRun) -> TableRun | None:
    audit = table.audit
    if audit is None:
        return table if table.verdict in OPEN else None
    if not isinstance(audit, AuditResult):  # its counts are hidden, but not its findings
        return None if table.verdict is Verdict.PASS and table.open_findings else table
    anew = judged_again(audit)
    if not isinstance(anew, AuditResult):
        return None
    accepted = {each.id: each.exception for each in table.findings}
    found = [replace(each, exception=accepted.get(each.id)) for each in findings(anew, table.source)]
    if table.verdict is not verdict_with_exceptions(anew, found, complete_kinds(anew)):
        return None
    reason = table.reason if table.reason.startswith(anew.reason) else anew.reason
    return replace(table, audit=anew, reason=reason)
