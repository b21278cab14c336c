"""The order of a sensitive column's values, which t-closeness by order needs: that of a type, never of letters."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest
from qidsql.commands.keys.command import KeysRequest
from qidsql.commands.keys.keys import keys
from qidsql.commands.protect.columns.columns import columns as masking
from qidsql.commands.protect.columns.command import ColumnsRequest
from qidsql.core.results import Verdict
from qidsql.core.tables import has_order
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from tests.stores import EVERY_ENGINE, ONE_ENGINE, TWO_ENGINES, Store

INCOMES = [8, 9, 10, 11, 100, 101, 102, 103, 104, 105]
ROWS = [("a", income) for income in INCOMES[:4] * 2] + [("b", income) for income in INCOMES[4:] * 2]
ORDERED: dict[str, Any] = {"t_ordered": "0.3"}
COMMANDS: list[Callable[[Engine], Any]] = [
    lambda engine: audit(engine, AuditRequest("t", k=2, columns="zip", sensitive="income", **ORDERED)),
    lambda engine: keys(engine, KeysRequest("t", columns="zip", reveals="income", **ORDERED)),
    lambda engine: masking(engine, ColumnsRequest("t", columns="zip", reveals="income", **ORDERED)),
]


@EVERY_ENGINE
def test_texts_have_no_order(store: Store) -> None:
    rows = [(where, str(income)) for where, income in ROWS]
    store.table("t", {"zip": "VARCHAR(9)", "income": "VARCHAR(9)"}, [*rows, ("a", "NA")])
    with store.connect() as engine:
        for command in COMMANDS:
            with pytest.raises(UsageError, match=r"^--require t-ordered needs the order .*, and income .* --t-clos"):
                command(engine)


@EVERY_ENGINE
def test_numbers_and_dates_have_one(store: Store) -> None:
    store.table("t", {"zip": "VARCHAR(9)", "income": "INTEGER", "born": "DATE"}, [(*row, None) for row in ROWS])
    with store.connect() as engine:
        beyond = audit(engine, AuditRequest("t", k=2, columns="zip", sensitive="income", **ORDERED))
        same = audit(engine, AuditRequest("t", k=2, columns="zip", sensitive="born", **ORDERED))
    assert (beyond.verdict, same.verdict) == (Verdict.VIOLATION, Verdict.PASS)


@TWO_ENGINES
def test_an_enum_has_the_order_in_which_it_is_declared(store: Store) -> None:
    store.execute("CREATE TYPE severity AS ENUM ('none', 'mild', 'moderate', 'severe')")
    rows = [("a", "none"), ("a", "mild"), ("b", "moderate"), ("b", "severe")]
    store.table("t", {"zip": "VARCHAR(9)", "income": "severity"}, rows)
    with store.connect() as engine:
        beyond, within = (
            audit(engine, AuditRequest("t", k=2, columns="zip", sensitive="income", t_ordered=t)).verdict
            for t in ("0.333", "0.334")
        )
    assert (beyond, within) == (Verdict.VIOLATION, Verdict.PASS)


@pytest.mark.engines("postgres")
def test_a_domain_has_the_order_of_its_type(store: Store) -> None:
    store.execute("CREATE DOMAIN euros AS integer")
    store.execute("CREATE DOMAIN date_written AS text")
    columns = {"zip": "VARCHAR(9)", "income": "euros", "written": "date_written", "paid": "money", "exact": "numeric"}
    store.table("t", columns, [(*row, "9", "9", row[1]) for row in ROWS])
    with store.connect() as engine:
        assert COMMANDS[0](engine).verdict is Verdict.VIOLATION
        exact = audit(engine, AuditRequest("t", k=2, columns="zip", sensitive="exact", **ORDERED))
        assert exact.verdict is Verdict.VIOLATION
        for column in ("written", "paid"):
            with pytest.raises(UsageError, match=f"{column} is"):
                audit(engine, AuditRequest("t", k=2, columns="zip", sensitive=column, **ORDERED))


@pytest.mark.engines("sqlite")
def test_texts_in_a_column_of_numbers_are_refused(store: Store) -> None:
    store.table("t", {"zip": "TEXT", "income": "INTEGER", "born": "DATE"}, [(*row, "2001-02-03") for row in ROWS])
    with store.connect() as engine:
        assert COMMANDS[0](engine).verdict is Verdict.VIOLATION
        assert audit(engine, AuditRequest("t", k=2, columns="zip", sensitive="born", **ORDERED)).verdict
    store.execute("INSERT INTO t VALUES ('a', '1200,50', '3.2.2001')")
    with store.connect() as engine:
        for column in ("income", "born"):
            with pytest.raises(UsageError, match=f"{column} has 1 value"):
                audit(engine, AuditRequest("t", k=2, columns="zip", sensitive=column, **ORDERED))


DEGREES = ("none", "mild", "moderate", "severe")
GRADED = [("a", "none"), ("a", "mild"), ("b", "moderate"), ("b", "severe"), ("a", None), ("b", None)]


def graded(engine: Engine, t: str, order: str | None, **more: Any) -> Any:
    request = {"k": 2, "columns": "zip", "sensitive": "income", "t_ordered": t, "order": order, **more}
    return audit(engine, AuditRequest("t", **request))


@pytest.mark.exhaustive
@EVERY_ENGINE
def test_texts_have_the_order_that_is_given(store: Store, tmp_path: Path) -> None:
    """The distance of {none, mild, NULL} from all six rows: (1/6 + 2/6 + 1/6 + 0) / 4 = 1/6; of those in alphabetical
    order, mild, moderate, none, severe: (1/6 + 0 + 1/6 + 0) / 4 = 1/12."""
    file = tmp_path / "degrees.txt"
    file.write_text("\n".join(DEGREES))
    store.table("t", {"zip": "VARCHAR(9)", "income": "VARCHAR(9)"}, GRADED)
    with store.connect() as engine:
        for order in (",".join(DEGREES), " none, mild,moderate,severe,worse", str(file)):
            verdicts = [graded(engine, t, order).verdict for t in ("0.1666", "0.1667")]
            assert verdicts == [Verdict.VIOLATION, Verdict.PASS]
        verdicts = [graded(engine, t, "alphabetical").verdict for t in ("0.0833", "0.0834")]
        assert verdicts == [Verdict.VIOLATION, Verdict.PASS]
        for order in ("none,mild,moderate", "none,mild,moderate,Severe"):
            with pytest.raises(UsageError, match=r"^--order lacks 1 value of income: name each in its place$"):
                graded(engine, "0.5", order)
        options: dict[str, Any] = {"columns": "zip", "reveals": "income"}
        found = keys(engine, KeysRequest("t", t_ordered="0.16", order=",".join(DEGREES), **options))
        assert found.criterion.startswith("column set with a class further than t = 0.16")
        assert len(found.column_sets) == 1
        published = masking(engine, ColumnsRequest("t", t_ordered="0.17", order=str(file), **options))
        assert published.published == ("zip",)


@EVERY_ENGINE
def test_the_report_says_in_which_order(store: Store) -> None:
    store.table("t", {"zip": "VARCHAR(9)", "income": "VARCHAR(9)", "age": "INTEGER"}, [(*row, 7) for row in GRADED])
    with store.connect() as engine:
        listed = graded(engine, "0.9", ",".join(DEGREES)).account.notes
        letters = graded(engine, "0.9", "alphabetical").account.notes
        of_type = graded(engine, "0.9", None, sensitive="age").account.notes
    assert "income: ordered by the given list of 4 values" in listed
    assert "income: ordered by letters, as asked" in letters
    assert [note.partition(",")[0].lower() for note in of_type if "order" in note] == ["age: ordered by its type"]


@ONE_ENGINE
def test_numbers_can_have_another_order(store: Store) -> None:
    store.table("t", {"zip": "VARCHAR(9)", "income": "INTEGER"}, [("a", 1), ("a", 2), ("b", 3), ("b", 4)])
    with store.connect() as engine:
        assert graded(engine, "0.2", "1,3,2,4").verdict is Verdict.PASS
        assert graded(engine, "0.2", None).verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": "none,mild,none"}, "--order: value 3 stands there before; each has one place"),
        (
            {"order": "degrees.txt"},
            "--order degrees.txt cannot be read (FileNotFoundError); expected values with ",
        ),
        ({"order": "none,mild", "sensitive": ("income", "age")}, "--order is that of one sensitive column; name one"),
        (
            {"order": "none,mild", "t_ordered": None},
            "--order is the order of the values for --require t-ordered",
        ),
    ],
)
def test_an_order_that_is_none_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        AuditRequest("t", **{"k": 2, "sensitive": "income", "t_ordered": "0.3", **options})


def test_types_of_all_engines() -> None:
    with_order = "INTEGER UHUGEINT DECIMAL(9,2) NUMERIC DOUBLE FLOAT DATE TIMESTAMP_NS TIMESTAMP_NTZ BOOLEAN ENUM LONG"
    without = (
        "VARCHAR TEXT JSON STRING CHAR(3) ENUM[] INTEGER[] STRUCT(a INTEGER) UUID BLOB BIT INET date_written point"
    )
    assert all(map(has_order, [*with_order.split(), "timestamp without time zone", "DECIMAL(10, 2)"]))
    assert not any(map(has_order, without.split()))
