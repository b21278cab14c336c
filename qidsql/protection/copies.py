"""A protected copy of a table, written to the requested place: completely or not at all.

The cells to suppress are the table `plan` (pattern, mask) beside the `patterns` of a workbench. In a database the copy
is a table, made in a transaction of an engine opened for writing: it exists after `keep`, and is gone if anything fails
before. A file, of data files or where the engine writes files, is written beside its destination and renamed.
"""

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from qidsql.core.copies import FILE_KINDS, names_a_file
from qidsql.core.tables import FILES, Column, Table, TableName
from qidsql.declarations.results import OMITTED
from qidsql.engines.base import Engine
from qidsql.errors import AccessError, SourceError, StatementError, UsageError
from qidsql.protection.row_patterns import RowPatterns
from qidsql.sql.copies import cells_given_back, create_table, drop_table, in_own_order, suppressed_by_plan
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import ALIAS, Relation, comparable_columns, relation
from qidsql.sql.templates import Row, Statement, integer
from qidsql.wording.texts import are, count, few, plural


def plan_by_codes(columns: int, parting: bool) -> exp.Select:
    """The query that exports the plan by codes, for another engine: mask, c0, c1, ... of the patterns that lose a cell;
    with `parting` also first_row and last_row."""
    codes = (f"patterns.c{place}" for place in range(columns))
    ends = ("plan.first_row", "plan.last_row") if parting else ()
    plan = exp.select("plan.mask", *codes, *ends).from_("plan")
    return plan.join("patterns", on="plan.pattern = patterns.pattern").where("plan.mask <> 0")


@dataclass(frozen=True, slots=True)
class ProtectedCopy:
    """The destination of a table's copy, and its columns. Made by `planned_copy`."""

    engine: Engine
    table: Table
    copied: tuple[Column, ...]
    name: TableName
    path: Path | None = None
    replace: bool = False
    replaces: bool = False  # there is a table of that name to drop

    def __str__(self) -> str:
        return str(self.path or self.name)

    def write(
        self,
        patterns: RowPatterns,
        columns: Sequence[Column],
        deadline: float | None,
        parting: bool = False,
    ) -> None:
        """Write the copy; it is invisible to others before `keep`. `columns` are those of the patterns, in order; the
        patterns are closed during the work.

        With `parting` the plan gives for each row pattern the rows, first_row to last_row, of each mask. One scan,
        three or four statements. Raises AccessError, StatementError, Stopped.
        """
        engine = self.engine
        codes = [f"c{place}" for place in range(len(columns))]
        ends = ("first_row", "last_row") if parting else ()
        selected = plan_by_codes(len(columns), parting)
        with engine.temporary_export("plan") as plan:
            patterns.bench.run(
                Statement(patterns.bench.dialect.render(selected), "writing of the plan", lambda rows: None, plan),
                deadline,
            )
            patterns.close()  # to free its memory for the copy
            with self._right_to_write():
                types = {"mask": "BIGINT", **dict.fromkeys(codes, "INTEGER"), **dict.fromkeys(ends, "BIGINT")}
                received = engine.import_file(plan, types)
            key, copied = patterns.shuffle_key, self.copied
            query = suppressed_by_plan(engine.dialect, self.table, columns, copied, received, key, parting)
            self.write_rows(query, deadline)

    def write_rows(self, query: exp.Query, deadline: float | None) -> None:
        """Write the rows of a query of the engine as the copy, invisible to others before `keep`. Raises as `write`."""
        with self._right_to_write():
            if self.path is None:
                self._make(query, deadline)
                return
            text = self.engine.dialect.render(in_own_order(self.engine.dialect, query))
            self.engine.run(Statement(text, f"copy into {self}", lambda rows: None, self._copy), deadline)

    def receive(self, path: Path, types: Mapping[str, str], deadline: float | None) -> None:
        """Make the table from the rows of a file that the workbench has exported. Raises as `write`."""
        with self._right_to_write():
            names = [exp.column(exp.to_identifier(name, quoted=True)) for name in types]
            self._make(exp.select(*names).from_(self.engine.import_file(path, types)), deadline)

    def _make(self, query: exp.Query, deadline: float | None) -> None:
        engine = self.engine
        if self.replaces:
            engine.run(Statement(drop_table(engine.dialect, self.name), f"removal of {self}", lambda rows: None))
        text = create_table(engine.dialect, self.name, query)
        engine.run(Statement(text, f"copy into {self}", lambda rows: None), deadline)

    def rows(self, columns: Sequence[Column]) -> exp.Expr:
        """The node to select the written rows from, with some of the columns in their comparable form."""
        dialect = self.engine.dialect
        if self.path is None:
            copy = Table(self.name, "table", self.copied)
            return relation(dialect, copy, columns).node
        select = exp.select(*comparable_columns(dialect, columns)).from_(self.engine.import_file(self._copy, {}))
        return select.subquery(ALIAS)

    def keep(self) -> None:
        """Make the copy permanent. Raises StatementError, Stopped."""
        if self.path is None:
            self.engine.commit()
            return
        written = self._copy
        if self.path.suffix.lower() == ".csv":
            written = written.with_suffix(".csv")
            text = self.engine.dialect.render(self._lines)
            self.engine.run(Statement(text, f"copy into {self}", lambda rows: None, written))
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            shutil.copyfile(written, beside)
            if self.path.exists() and not self.replace:
                raise UsageError(
                    f"{self.path} was created by another process in the meantime; give another name, or --replace"
                )
            beside.replace(self.path)
        except OSError as error:
            raise StatementError(
                f"{self.path} could not be written ({error.strerror}); nothing was left there"
            ) from None
        finally:
            beside.unlink(missing_ok=True)

    @property
    def _lines(self) -> exp.Select:
        """The rows as a csv file has them: a NULL of a single column as "", since readers skip an empty line."""
        shown: exp.Expr = exp.Star()
        if len(self.copied) == 1:
            name = exp.to_identifier(self.copied[0].name, quoted=True)
            text = exp.cast(exp.column(name), exp.DataType.Type.TEXT)
            shown = exp.alias_(exp.func("coalesce", text, exp.Literal.string("")), name)
        return exp.select(shown).from_(self.engine.import_file(self._copy, {}))

    @property
    def _written(self) -> Path:
        return self.engine.exports()

    @property
    def _copy(self) -> Path:
        return self._written / "copy.parquet"

    @contextmanager
    def _right_to_write(self) -> Iterator[None]:
        try:
            yield
        except AccessError:
            schema = exp.to_identifier(self.name.schema, quoted=True).sql(self.engine.dialect.name)
            raise AccessError(
                f"this role may not make {self}; it needs CREATE on schema {schema} and TEMPORARY on the database, and "
                f"must own what --replace removes. Without them: --sql table prints the statement for another role"
            ) from None
        except StatementError as error:
            raise StatementError(f"{self} could not be written, and nothing was left there: {error}") from None


def planned_copy(engine: Engine, table: Table, copied: Sequence[Column], typed: str, replace: bool) -> ProtectedCopy:
    """The destination of the copy as typed: a table, by default in the schema of its source, or a file.

    Raises UsageError (the source itself, a name that is taken, no name), SourceError.
    """
    if engine.writes_files and (table.kind in FILES or names_a_file(typed)):
        return _file_copy(engine, table, copied, typed, replace)
    if names_a_file(typed):
        raise UsageError(f"--into {typed}: {engine.label} writes no files; {engine.copied_instead}")
    if not engine.writable:
        raise SourceError(f"{engine.label} was not opened for writing: qidsql.connect(SOURCE, writable=True)")
    name = new_table_name(engine, table, typed)
    if name == table.name:
        raise UsageError(f"{name} is the table itself; --into takes another name, --sql update prints an update of it")
    kind = engine.existing_kind(name, replace)
    if kind is not None:
        if not replace:
            raise UsageError(f"{name} exists already; give another name, or --replace")
        if kind != "table":
            raise UsageError(f"{name} is a {kind}, which --replace does not remove; give another name")
    return ProtectedCopy(engine, table, tuple(copied), name, replace=replace, replaces=kind is not None)


def new_table_name(engine: Engine, table: Table, typed: str) -> TableName:
    """The table name as typed, whether the table exists or not. Raises UsageError."""
    try:
        node: exp.Expr = exp.to_table(typed, dialect=engine.dialect.name)
    except (sqlglot.errors.SqlglotError, ValueError):
        node = exp.Null()
    if not isinstance(node, exp.Table) or not node.name or len(node.parts) > 3:
        raise UsageError('the name of the new table cannot be read; expected name, schema.name or "schema"."name"')
    if engine.dialect.lowers:
        node = normalize_identifiers(node, dialect=engine.dialect.name)
    name = TableName(node.name, node.db or table.name.schema, node.catalog or table.name.catalog)
    if not engine.dialect.keeps(name.name):
        raise UsageError(f"the name of the new table is longer than {engine.dialect.longest_name} bytes; shorten it")
    return name


def _file_copy(engine: Engine, table: Table, copied: Sequence[Column], typed: str, replace: bool) -> ProtectedCopy:
    path = Path(typed).expanduser()
    if path.suffix.lower() not in FILE_KINDS:
        raise UsageError(
            f"the copy of a file or a data frame is a file: --into takes a name that ends in {' or '.join(FILE_KINDS)}"
        )
    if not path.absolute().parent.is_dir() or path.is_dir():
        raise UsageError(f"--into {path} cannot be written: its folder must exist, and it must name a file")
    if not os.access(path.absolute().parent, os.W_OK):
        raise UsageError(f"--into {path} cannot be written: this user has no right to write in its folder")
    if path.exists():
        if any(os.path.samefile(path, source) for source in engine.data_files):
            raise UsageError(f"{path} is the source itself; --into takes another name")
        if not replace:
            raise UsageError(f"{path} exists already; give another name, or --replace")
    return ProtectedCopy(engine, table, tuple(copied), TableName(path.name), path, replace)


# Which blank cells of a copy its unprotected columns give back, counted in the engine.
#
# Someone fills in the blank cells of a protected column by an unprotected one: the value that is suggested by the rows
# of the copy with the same unprotected value that show the cell's column. They suggest a value if all of them show it,
# or so many that at most a tenth of the doubt is left: of the share of other values among all rows that show the
# column. And they have to be so many that one that shows another value was to be expected nearly (0.9), if both columns
# had nothing to do with each other. Suggestions by few rows can be left alone. Given back are the cells that are filled
# in rightly: the most of which at least nine in ten are right.


SEVERAL = ", "  # between the names of columns that give cells back together


@dataclass(frozen=True)
class GivenBack:
    """Blank cells of a protected column that an unprotected column of the copy gives back."""

    column: Annotated[str, "the unprotected column; several, where all of them together give back more than each"]
    of: Annotated[str, "the protected column"]
    cells: Annotated[
        int,
        "blank cells that are filled in rightly by the rows of the copy with the same values of the unprotected "
        "column, where at least nine in ten are right",
    ]
    certain: Annotated[int, "those of them of which these rows show no other value"]
    blank: Annotated[int, "cells of the protected column whose value is not in the copy"]

    def __str__(self) -> str:
        gives = "together give back" if SEVERAL in self.column else "gives back"
        return f"{self.column} {gives} {count(self.cells)} of {plural(self.blank, 'blank cell')} of {self.of}"


# What results say of a copy, or of what their script makes.
KeptColumns: TypeAlias = Annotated[tuple[str, ...] | None, OMITTED, "unprotected columns that the copy has on request"]
CellsGivenBack: TypeAlias = Annotated[
    tuple[GivenBack, ...] | None,
    OMITTED,
    "blank cells that unprotected columns of the copy, or of what the script makes, give back, the most first; "
    "no key: there is neither",
]


def given_back(
    engine: Engine,
    table: Table,
    rows_with: Callable[[Sequence[Column]], exp.Expr],
    copied: Sequence[Column],
    blanked: Collection[str],
    protected: Collection[str],
    deadline: float | None,
) -> tuple[GivenBack, ...]:
    """What the unprotected columns of a copy, alone and all together, give back of those `blanked`, the most first.

    `rows_with` returns the node to select the rows of the copy from, with some of its columns in their comparable form.
    One statement, which reads the table and the copy; none where nothing is blank or unprotected. Raises Stopped,
    StatementError.
    """
    hidden = [column for column in copied if column.name in blanked]
    given = [column for column in copied if column.name not in protected]
    if not hidden or not given:
        return ()
    columns = [column.learned for column in (*hidden, *given)]
    names = [column.name for column in columns]
    whole, copy = relation(engine.dialect, table, columns), Relation(rows_with(columns))
    query = cells_given_back((whole.node, whole.columns(names)), (copy.node, copy.columns(names)), len(hidden))
    sets = [column.name for column in given] + [SEVERAL.join(column.name for column in given)] * (len(given) > 1)
    pairs = list(product(hidden, sets))

    def read(rows: list[Row]) -> list[GivenBack]:
        figures = [tuple(map(integer, row)) for row in rows]
        found = [
            GivenBack(pairs[pair][1], pairs[pair][0].name, cells, certain, blank)
            for pair, blank, cells, certain in sorted(figures)
        ]
        alone = {
            name: max(each.cells for each in found if each.of == name and each.column in sets[: len(given)])
            for name in {each.of for each in found}
        }
        return [each for each in found if each.column in sets[: len(given)] or each.cells > alone[each.of]]

    statement = Statement(engine.dialect.render(query), "cells that other columns give back", read, scans=2)
    found = [each for each in engine.run(statement, deadline) if each.cells]
    return tuple(sorted(found, key=lambda each: -each.cells))


def rows_of_query(dialect: Dialect, query: exp.Query, columns: Sequence[Column]) -> exp.Expr:
    """The rows of a query for a copy, with some of the columns in their comparable form."""
    return exp.select(*comparable_columns(dialect, columns)).from_(query.subquery("copied")).subquery(ALIAS)


def as_sentence(found: Sequence[GivenBack] | None) -> str:
    """What other columns give back, for people who sign."""
    return f" But {found[0]}: leave {found[0].column} out, or protect it too." if found else ""


def kept_in_the_headline(copied: Sequence[str], protected: Sequence[str], sensitive: Sequence[str]) -> str:
    """What a headline adds about a copy with columns that are neither protected nor sensitive; empty if it has none."""
    known = {name.casefold() for name in (*protected, *sensitive)}
    kept = [name for name in copied if name.casefold() not in known]
    return f"; {few(kept)} {are(len(kept))} copied unchanged, and nobody measured who is found by that" if kept else ""


def in_the_headline(found: Sequence[GivenBack] | None) -> str:
    """What a headline adds about a copy whose columns give cells back; empty if none does."""
    if not found:
        return ""
    most, *others = found
    more = f" (and {plural(len(others), 'more pair')} of columns alike)" if others else ""
    return f", but {most}{more}: leave {most.column} out, or protect it too"
