"""The order of a sensitive column's values, which t-closeness by order needs: that of a type, never of letters."""

from collections.abc import Callable
from typing import Any

import pytest

from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.request import AuditRequest
from qidsql.commands.keys.keys import keys
from qidsql.commands.keys.request import KeysRequest
from qidsql.commands.mask.mask import mask
from qidsql.commands.mask.request import MaskRequest
from qidsql.core.results import Verdict
from qidsql.core.value_kinds import has_order
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from tests.stores import EVERY_ENGINE, TWO_ENGINES, Store

INCOMES = [8, 9, 10, 11, 100, 101, 102, 103, 104, 105]
ROWS = [("a", income) for income in INCOMES[:4] * 2] + [("b", income) for income in INCOMES[4:] * 2]
ORDERED: dict[str, Any] = {"t_ordered": "0.3"}
COMMANDS: list[Callable[[Engine], Any]] = [
    lambda engine: audit(engine, AuditRequest("t", k=2, columns="zip", sensitive="income", **ORDERED)),
    lambda engine: keys(engine, KeysRequest("t", columns="zip", reveals="income", **ORDERED)),
    lambda engine: mask(engine, MaskRequest("t", columns="zip", reveals="income", **ORDERED)),
]


@EVERY_ENGINE
def test_texts_have_no_order(store: Store) -> None:
    rows = [(where, str(income)) for where, income in ROWS]
    store.table("t", {"zip": "VARCHAR(9)", "income": "VARCHAR(9)"}, [*rows, ("a", "NA")])
    with store.connect() as engine:
        for command in COMMANDS:
            with pytest.raises(UsageError, match=r"^--t-ordered needs the order of the values, and income .* --t-clos"):
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
    columns = {"zip": "VARCHAR(9)", "income": "euros", "written": "date_written", "paid": "money"}
    store.table("t", columns, [(*row, "9", "9") for row in ROWS])
    with store.connect() as engine:
        assert COMMANDS[0](engine).verdict is Verdict.VIOLATION
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


def test_types_of_all_engines() -> None:
    with_order = "INTEGER UHUGEINT DECIMAL(9,2) NUMERIC DOUBLE FLOAT DATE TIMESTAMP_NS TIMESTAMP_NTZ BOOLEAN ENUM LONG"
    without = (
        "VARCHAR TEXT JSON STRING CHAR(3) ENUM[] INTEGER[] STRUCT(a INTEGER) UUID BLOB BIT INET date_written point"
    )
    assert all(map(has_order, [*with_order.split(), "timestamp without time zone", "DECIMAL(10, 2)"]))
    assert not any(map(has_order, without.split()))
