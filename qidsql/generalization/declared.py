"""Hierarchies that somebody declares: files as ARX writes them, groups of values, tables, and SQL.

    birth_date = ["year(birth_date)", "year(birth_date) // 10"]   # SQL of this column, the finest level first
    zip_code = "zips.csv"                                          # a line value;coarser;...;* for each value
    country = { Europe = ["DE", "FR"], Asia = ["JP"] }             # groups of values
    ward = { table = "main.wards" }                                # its columns: the value, then its levels
    age = { steps = [5, 10, 20], bottom = 20, top = 90 }           # a grid; below 20 and from 90 on, one label each
    fee = { steps = [100, 500], tails = 30 }                       # the same, cut where 30 rows or more are beyond

is such a file; a folder has a file COLUMN.csv, or NAME_COLUMN.csv, for each column. That each level is a function of
the one below, and covers every value, is checked in the engine (`hierarchies`).
"""

import csv
import hashlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from qidsql.core.files import read_toml, refuse_pipe
from qidsql.core.tables import Column, Table, ValueKind
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from qidsql.generalization.hierarchies import Ask, ColumnHierarchy, Level, kind_of_values
from qidsql.sql.dialects import Dialect
from qidsql.sql.hierarchies import by_ends, by_width, ends_with_rows
from qidsql.sql.templates import Row, Statement, integer
from qidsql.wording.texts import count, plural, setting

EXPECTED = "expected SQL of its levels, a .csv file, groups of values, { table = NAME }, or { steps = [WIDTH] }"
NUMBERS = (ValueKind.WHOLE, ValueKind.DECIMAL, ValueKind.FLOAT)
CUTS = ("bottom", "top", "tails")


def declared_hierarchies(
    engine: Engine, ask: Ask, table: Table, columns: Sequence[Column], place: Path
) -> dict[str, ColumnHierarchy]:
    """The hierarchies that a folder or a TOML file has for these columns, not yet checked in the engine.

    One statement for each column with SQL or a table, on the catalog, and one for `tails`. Raises UsageError, which
    names lines and no values, UnknownName, AccessError, Stopped, StatementError.
    """
    if place.suffix.lower() != ".toml":
        found = {name: read_file(file, column) for name, (file, column) in _files_in(place, columns).items()}
    else:
        given = {name.lower(): each for name, each in read_toml(place, _expected()).content.items()}
        known = [column for column in columns if column.name.lower() in given]
        found = {each.name: _declared(engine, ask, table, each, given[each.name.lower()], place) for each in known}
    return found


def contents_of(place: Path) -> list[str]:
    """What the folder or the TOML file declares now, for a comparison: the contents of its files. Levels that a table
    has can change unseen: the answer is another one each time. Raises UsageError."""
    files = sorted(place.glob("*.csv")) if place.suffix.lower() != ".toml" else [place]
    if files == [place]:
        given = read_toml(place, _expected()).content.values()
        files += [place.parent / each for each in given if isinstance(each, str)]
        if any(isinstance(each, Mapping) and "table" in each for each in given):
            return [secrets.token_hex()]
    try:
        return [f"{each.name} {hashlib.sha256(each.read_bytes()).hexdigest()}" for each in files]
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read ({type(error).__name__}); {_expected()}") from None


def _expected() -> str:
    return f"{setting('hierarchies')} takes a folder with files COLUMN.csv, or a .toml file"


def _declared(engine: Engine, ask: Ask, table: Table, column: Column, given: Any, place: Path) -> ColumnHierarchy:
    source = f"{setting('hierarchies')} {place.name}: {column.name}"
    match given:
        case str():
            return read_file(place.parent / given, column)
        case [str(), *_] if all(isinstance(each, str) for each in given):
            labels = [Level(text, _label(engine, table, column, text, source)) for text in given]
            return ColumnHierarchy(column, tuple(labels), f"SQL of {place.name}", source=source)
        case {"table": str() as name, **others} if not others:
            return _of_table(engine, column, name, source)
        case {"steps": [int(), *_]} if given.keys() <= {"steps", *CUTS}:
            return _grid(engine.dialect, ask, table, column, given, source)
        case dict() if given and all(isinstance(each, list) for each in given.values()):
            lines = [(_text(value, source), group) for group, values in given.items() for value in values]
            return _listed(column, lines, place.name, source)
    raise UsageError(f"{source}: {EXPECTED}")


def _grid(
    dialect: Dialect,
    ask: Ask,
    table: Table,
    column: Column,
    given: Mapping[str, Any],
    source: str,
) -> ColumnHierarchy:
    """Intervals of numbers from 0, with one label for all numbers beyond each cut."""
    steps, cuts = given["steps"], {name: each for name, each in given.items() if name in CUTS}
    kind = kind_of_values(column, dialect)
    if kind not in NUMBERS:
        raise UsageError(f"{source}: steps are of numbers, and {dialect.name} has none in {column.name}")
    if any(type(each) is not int for each in (*steps, *cuts.values())) or min(steps) < 1 or cuts.get("tails", 1) < 1:
        raise UsageError(f"{source}: steps, cuts and rows of tails are whole numbers, steps and tails at least 1")
    if any(wide % narrow for narrow, wide in pairwise(steps)) or sorted({*steps}) != [*steps]:
        raise UsageError(f"{source}: each step has to be a multiple of the one before, such as 5, 10, 50, or 5, 10, 20")
    bottom, top, floating = cuts.get("bottom"), cuts.get("top"), kind is ValueKind.FLOAT
    if "tails" in cuts:
        if len(cuts) > 1:
            raise UsageError(f"{source}: tails are cut where enough rows are beyond; leave out bottom and top")
        text = ends_with_rows(dialect, table, column, steps[0], floating, cuts["tails"])
        [(bottom, top)] = ask([Statement(text, f"ends of {column.name}", _ends)])
        if bottom is None or top is None or bottom > top:
            raise UsageError(f"{source}: not so many rows are beyond any two cuts; take fewer, or other steps")
    elif bottom is not None and top is not None and bottom >= top:
        raise UsageError(f"{source}: bottom has to be below top")
    widths = [by_width(width, kind is ValueKind.WHOLE, floating) for width in steps]
    levels = [Level(f"steps of {count(width)}", label, width) for width, label in zip(steps, widths, strict=True)]
    if cuts:
        together = [replace(each, label=by_ends(each.label, bottom, top)) for each in levels]
        levels = [Level("ends together", by_ends(None, bottom, top)), *together]
    return ColumnHierarchy(column, tuple(levels), f"grid of {source.partition(': ')[0].split()[-1]}", source=source)


def _ends(rows: list[Row]) -> tuple[int | None, int | None]:
    bottom, top = (None if each is None else integer(each) for each in rows[0])
    return bottom, top


def _text(value: Any, source: str) -> str:
    if isinstance(value, bool | float) or not isinstance(value, str | int):
        raise UsageError(f"{source}: a value of a group is no text and no whole number; write it as text")
    return str(value)


def _label(engine: Engine, table: Table, column: Column, text: str, source: str) -> Callable[[exp.Expr], exp.Expr]:
    """The label of a value by an expression of its column, which the engine accepts as it accepts a condition."""
    dialect = engine.dialect
    try:
        tree = sqlglot.parse_one(text, read=dialect.name)
    except SqlglotError:
        raise UsageError(f"{source}: a level is no expression of SQL; expected such as year({column.name})") from None
    named = [*tree.find_all(exp.Column)]
    if not named or any(each.name.lower() != column.name.lower() or each.table for each in named):
        raise UsageError(f"{source}: a level has to be an expression of {column.name}, and of no other column")
    try:
        engine.parse_condition(table, f"({dialect.render(tree)}) IS NOT NULL")
    except UsageError as error:
        said = str(error).replace("the where condition", "a level").replace("a plain condition", "a plain expression")
        raise UsageError(f"{source}: {said}") from None

    def label(value: exp.Expr) -> exp.Expr:
        made = tree.transform(lambda node: value.copy() if isinstance(node, exp.Column) else node)
        return exp.Cast(this=made, to=dialect.type(dialect.text))

    return label


def _of_table(engine: Engine, column: Column, name: str, source: str) -> ColumnHierarchy:
    """The lines of a table: its first column has the values, the others their labels, the finest level first."""
    table = engine.describe(name)
    names = tuple(each.name for each in table.columns)
    if len(names) < 2:
        raise UsageError(f"{source}: {table.name} has one column; expected the values, then a column for each level")
    levels = tuple(Level(each) for each in names[1:])
    return ColumnHierarchy(column, levels, f"table {table.name}", source=source, table=table, names=names)


def _files_in(folder: Path, columns: Sequence[Column]) -> dict[str, tuple[Path, Column]]:
    """The file of each column that has one: COLUMN.csv, or a name that ends in _COLUMN.csv. Raises UsageError."""
    if not folder.is_dir():
        raise UsageError(f"{setting('hierarchies')} {folder} is no folder; {_expected()}")
    files = sorted(folder.glob("*.csv"))
    found: dict[str, tuple[Path, Column]] = {}
    for column in columns:
        name = column.name.lower()
        exact = [file for file in files if file.stem.lower() == name]
        fitting = exact or [file for file in files if file.stem.lower().endswith(f"_{name}")]
        if len(fitting) > 1:
            several = " and ".join(file.name for file in fitting)
            raise UsageError(f"{setting('hierarchies')}: {several} are both of {column.name}; keep one")
        found.update((column.name, (file, column)) for file in fitting)
    return found


def read_file(path: Path, column: Column) -> ColumnHierarchy:
    """The hierarchy in a file, not yet checked in the engine. Raises UsageError, which names lines and no values."""
    name = f"{setting('hierarchies')} {path.name}"
    refuse_pipe(path, name)
    try:
        text = path.read_text(encoding="utf-8-sig")
        first = text.partition("\n")[0]
        separator = ";" if ";" in first else ","
        rows = [row for row in csv.reader(StringIO(text, newline=""), delimiter=separator) if row]
    except (OSError, ValueError, csv.Error) as error:
        raise UsageError(f"{name} cannot be read ({type(error).__name__}); expected a text file") from None
    if not rows or len(rows[0]) < 2:
        raise UsageError(f"{name}: expected lines such as value;coarser;*, with a ; or , between the levels")
    short = sum(len(row) != len(rows[0]) for row in rows)
    if short:
        raise UsageError(f"{name}: {plural(short, 'line')} with other levels than the first, which has {len(rows[0])}")
    return _listed(column, list(map(tuple, rows)), path.name, name)


def _listed(column: Column, rows: Sequence[tuple[str, ...]], why: str, name: str) -> ColumnHierarchy:
    """The hierarchy of these lines: a value, then its labels, the last of them often the same in every line."""
    lines = tuple(dict.fromkeys(rows))
    if twice := len(lines) - len({line[0] for line in lines}):
        raise UsageError(f"{name}: {plural(twice, 'value')} with several lines that differ; each needs one")
    if len({line[-1] for line in lines}) == 1 and len(lines) > 1:
        lines = tuple(line[:-1] for line in lines)
    for level in range(len(lines[0]) - 1):
        labels = {line[level] for line in lines}
        if two := len({line[level : level + 2] for line in lines}) - len(labels):
            raise UsageError(f"{name}: {plural(two, 'label')} of level {level} with a second parent; each needs one")
    levels = tuple(Level(f"level {level}") for level in range(1, len(lines[0])))
    return ColumnHierarchy(column, levels, why, source=name, lines=lines)
