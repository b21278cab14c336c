"""The spreadsheet of findings: every finding is one line, and no text of it is a formula."""

import csv
import io
from collections.abc import Mapping
from dataclasses import replace

import pytest

from qidsql.formats.min_count import without_small_counts
from qidsql.formats.registry import rendered
from qidsql.operations.document import RunResult
from tests.formats.documents import with_tables


def lines(document: RunResult) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(rendered(document, "csv"), newline="")))


@pytest.mark.exhaustive
def test_a_line_for_each_finding_with_its_measures(document: RunResult) -> None:
    """Or one for a table that has none; then the gaps of the coverage."""
    expected = [(table, finding) for table in document.tables for finding in table.findings or [None]]
    found = lines(document)
    errors = [source for source in document.coverage.sources if source.error] if document.coverage else []
    assert len(found) == len(expected) + len(document.gaps) + len(errors)
    for line, (table, finding) in zip(found, expected, strict=False):
        assert line["verdict"] == table.verdict
        assert line["table"] == table.table
        if finding is None:
            assert (line["finding"], line["smallest"], line["text"]) == ("", "", table.sentence)
            continue
        assert (line["finding"], line["state"], line["id"]) == (finding.kind, finding.state, finding.id)
        columns = ", ".join(finding.columns)
        assert line["columns"] == ("'" if columns.startswith(("=", "+", "-", "@", "\t", "\r")) else "") + columns
        for name, value in finding.measures.to_plain().items():
            assert line[name] == ("" if value is None else str(value)), name
    for line, gap in zip(found[len(expected) :], document.gaps, strict=False):
        assert (line["finding"], line["text"], line["id"]) == ("coverage", gap.text, gap.id)


def test_no_field_is_a_formula(documents: Mapping[str, RunResult]) -> None:
    [table] = documents["violation"].tables
    for sign in "=+-@\t\r":
        [finding, *others] = table.findings
        hostile = replace(finding, columns=(f"{sign}1+1",))
        named = replace(table, table=f"{sign}cmd|' /C calc'!A0", findings=(hostile, *others))
        for line in lines(with_tables(documents["violation"], named)):
            assert line["table"].startswith("'" + sign)
            for name, text in line.items():
                assert not text.startswith(tuple("=+-@\t\r")), name


def test_small_counts_stay_hidden(documents: Mapping[str, RunResult]) -> None:
    for line in lines(without_small_counts(documents["violation"], 11)):
        assert line["smallest"] == line["rows_below_k"] == line["unique_rows"] == line["distinct_ratio"] == ""
