"""The columns of the table functions beside the results' own fields of these names: one type, declared once."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, get_args, get_origin, get_type_hints

import duckdb
import pytest

from qidsql.duckdb_extension.figures import ROLES, VERDICT
from qidsql.duckdb_extension.functions import AUDIT, FUNCTIONS, TableFunction

SQL = {"int": "BIGINT", "bool": "BOOLEAN", "str": "VARCHAR", "float": "DOUBLE", "Fraction": "DOUBLE"}


def inside(kind: Any, seen: set[Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a dataclass and of those in it, with their types."""
    if kind in seen:
        return
    seen.add(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        for each in fields(kind):
            yield each.name, hints[each.name]
            yield from inside(hints[each.name], seen)
    for each in get_args(kind):
        yield from inside(each, seen)


def sql_of(kind: Any) -> str | None:
    """The type of a field's values in SQL; None for what is no cell."""
    if get_origin(kind) is tuple:
        return "VARCHAR[]" if get_args(kind)[0] is str else None
    kinds = {each for each in (get_args(kind) or (kind,)) if each is not type(None)}
    if kinds & {float, Fraction}:
        return "DOUBLE"
    [one] = kinds if len(kinds) == 1 else [None]
    return SQL.get(getattr(one, "__name__", ""))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.macro)
def test_a_column_has_the_type_of_the_field_of_its_name(function: TableFunction) -> None:
    name = function.command.rpartition(".")[2]
    work = getattr(import_module(f"qidsql.commands.{function.command}.{name}"), name)
    found = [(name, sql_of(kind)) for name, kind in inside(get_type_hints(work)["return"], set())]
    compared = {name: {kind for own, kind in found if own == name and kind} for name in function.columns}
    for name, kinds in compared.items():
        kind = function.columns[name].replace("HUGEINT", "BIGINT")
        # what a field says of each column can be a list of the columns of which it is true
        assert not kinds or kind in kinds or (kind, kinds) == ("VARCHAR[]", {"BOOLEAN"}), name
    assert any(compared.values()) or function.macro == "report"


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (AUDIT, "finding columns rows_below_k share_below_k verdict"),
        (VERDICT, "table_name verdict smallest rows_below_k share_below_k"),
        (ROLES, " ".join(ROLES)),
    ],
)
def test_a_prompt_of_100_columns_shows_the_numbers(
    columns: dict[str, str], shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"VARCHAR": "'quasi-identifier'", "VARCHAR[]": "['birth_date', 'zip_code', 'sex']", "DOUBLE": "0.9962"}
    texts_of = {"type": "'INTEGER'", "column_name": "'birth_date'", "verdict": "'violation'"}
    cells = (f"CAST({texts_of.get(name, texts.get(kind, '1'))} AS {kind}) AS {name}" for name, kind in columns.items())
    duckdb.sql(f"SELECT {', '.join(cells)}").show(max_width=100)
    names = capsys.readouterr().out.splitlines()[1]
    assert set(shown.split()) <= set(names.replace("│", " ").split()), names
