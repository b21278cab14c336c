"""Names of columns that differ only in the case of their letters: each name finds its column, and no other."""

import pytest

import qidsql
from qidsql.core.tables import Column, Table, TableName
from qidsql.errors import UnknownName, UsageError
from qidsql.operations.policy_file import TableEntry
from tests.stores import PostgresStore

TWINS = Table(TableName("t", "main"), "table", tuple(Column(name, "text") for name in ("zip", "Zip", "age")))


def test_a_name_finds_its_own_column() -> None:
    for name in ("zip", "Zip", "age"):
        assert TWINS.column(name).name == name
    assert TWINS.column("AGE").name == "age"
    assert [column.name for column in TWINS.resolve(["Zip", "zip", "Zip"])] == ["Zip", "zip"]


def test_a_name_that_fits_two_columns_by_case_is_refused_with_both() -> None:
    with pytest.raises(UsageError, match=r"column ZIP of main\.t could be zip or Zip; write it as the table does"):
        TWINS.column("ZIP")
    with pytest.raises(UnknownName, match="no column zipp"):
        TWINS.column("zipp")


def test_options_on_twins(postgres_store: PostgresStore) -> None:
    """Three rows that are equal but for Zip."""
    postgres_store.table("t", {"zip": "VARCHAR", "Zip": "VARCHAR"}, [("10", str(number)) for number in range(3)])
    options = [
        ({"columns": ["zip"]}, "pass"),
        ({"columns": ["Zip"]}, "violation"),
        ({"columns": ["zip", "Zip"]}, "violation"),
        ({"exclude": ["Zip"]}, "pass"),
        ({"exclude": ["zip"]}, "violation"),
        ({"identifiers": ["Zip"]}, "pass"),
        ({"sensitive": ["zip"]}, "violation"),
    ]
    for option, verdict in options:
        assert qidsql.audit(postgres_store.url, "t", k=2, **option).verdict == verdict, option
    with pytest.raises(UsageError, match=r"column ZIP of .*could be zip or Zip"):
        qidsql.audit(postgres_store.url, "t", columns=["ZIP"])


def test_weights_of_a_policy_file_on_twins() -> None:
    entry = TableEntry(
        source="s", table="t", line=1, weights={"Zip": 3, "AGE": 5}, default_weights={"zip": 2, "age": 7}
    )
    assert entry.weights_of(["zip", "Zip", "age"]) == {"zip": 2, "Zip": 3, "age": 5}
    assert entry.weights_of(["ZIP", "other"]) == {"ZIP": 3, "other": 1}
