"""The list of minimal unsafe combinations, in a file that the workbench writes: never all in memory."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from qidsql.core.tables import positions
from qidsql.engines.duckdb.workbench import exported
from qidsql.errors import UsageError
from qidsql.profiling.profiler import TableProfiler
from qidsql.protection.row_patterns import RowPatterns
from qidsql.sql.relation import Relation, making
from qidsql.sql.row_codes import coded_rows, column_values
from qidsql.sql.templates import Statement, fill, integer


def check_file(path: Path, replace: bool) -> None:
    """Raise UsageError if the list cannot be written there."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise UsageError(f"--into {path} cannot be written: its folder must exist, and it must name a file")
    if not os.access(path.absolute().parent, os.W_OK):
        raise UsageError(f"--into {path} cannot be written: this user has no right to write in its folder")
    if path.exists() and not replace:
        raise UsageError(f"--into {path} exists already; give --replace to overwrite it, or name another file")


class RecordKeys:
    """The keys of the rows, by row pattern, on the workbench. One statement. Raises Stopped, StatementError."""

    def __init__(self, patterns: RowPatterns, profiler: TableProfiler, source: Relation, key: str) -> None:
        self._bench = patterns.bench
        codes = [exp.column(f"c{place}") for place in range(len(patterns.names))]
        query = coded_rows(profiler.engine.dialect, source, patterns.names, key, patterns.shuffle_key)
        with profiler.engine.temporary_export("keys") as path:
            profiler.ask([Statement(query, "keys of the rows", lambda rows: None, path)])
            load = fill(
                "workbench/uniques/load_keys",
                exported=exported(path, [("key_text", "VARCHAR"), *((code.name, "INTEGER") for code in codes)]),
                codes=[exp.alias_(exp.func("COALESCE", code, exp.Literal.number(0)), code.name) for code in codes],
                same=exp.and_(
                    *(exp.column(c.name, table="coded").eq(exp.column(c.name, table="patterns")) for c in codes)
                ),
            )
            self._bench.query(load, "loading of keys", profiler.deadline)

    def of(self, numbers: Iterable[int]) -> dict[int, str]:
        """The key of one row of each of these row patterns, where it has one."""
        wanted = list(numbers)
        if not wanted:
            return {}
        query = exp.select("pattern", "key_text").from_("keys").where(exp.column("pattern").isin(*wanted))
        rows = self._bench.query(query, "keys of records")
        return {integer(pattern): str(key) for pattern, key in rows if key is not None}


class UniquesList:
    """Collects the blocks of a search, and writes them to a file at the end.

    Columns of the file: record (the number of the row pattern, from 1), rows (its number of rows), key (if keys are
    given; then a line for each row), score (the record's, if requested), size, columns (a list of names; JSON text in a
    csv file), values (the same, if requested). The order of the lines is undefined, and so is that of the numbers.
    """

    def __init__(self, patterns: RowPatterns, path: Path) -> None:
        self._patterns, self._bench, self._path = patterns, patterns.bench, path
        self._numbers: dict[int, int] = {}
        self._scores = ""  # their type, if there are any
        self._bench.query(fill("workbench/uniques/uniques"), "making of a table")

    def add(self, records: NDArray[Any], masks: NDArray[Any] | int) -> None:
        """Add a combination for each record. Raises StatementError, Interrupted."""

        if isinstance(masks, int):
            masks = np.full(len(records), self._numbers.setdefault(masks, len(self._numbers)))
        self._bench.add("uniques", "noting of combinations", pattern=records.astype(np.int32), set_number=masks)

    def add_values(self, profiler: TableProfiler) -> None:
        """Fetch the values of the columns for the list. One statement, a scan per column."""
        patterns, engine = self._patterns, profiler.engine
        query = column_values(engine.dialect, profiler.source, patterns.names, patterns.shuffle_key)
        codes = exp.union(
            *(
                exp.select("pattern", exp.alias_(exp.Literal.number(place), "place"), exp.alias_(f"c{place}", "code"))
                .from_("patterns")
                for place in range(len(patterns.names))
            ),
            distinct=False,
        )  # fmt: skip
        with engine.temporary_export("values") as path:
            profiler.ask([Statement(query, "values of the columns", lambda rows: None, path)])
            source = exported(path, [("place", "INTEGER"), ("code", "INTEGER"), ("value_text", "VARCHAR")])
            load = fill("workbench/uniques/load_values", exported=source, codes=codes.subquery("coded"))
            self._bench.query(load, "loading of values", profiler.deadline)

    def add_scores(self, scores: NDArray[Any]) -> None:
        """Note the score of every row pattern. Raises StatementError, Interrupted."""
        exact = scores.dtype == np.int64
        self._scores = "BIGINT" if exact else "DOUBLE"
        self._bench.query(fill("workbench/uniques/scores", zero=exp.cast("0", self._scores)), "making of a table")
        numbers = np.arange(len(scores), dtype=np.int32)
        self._bench.add("scores", "noting of scores", pattern=numbers, score=scores if exact else scores.astype(float))

    def types(self, keys: bool, values: bool) -> dict[str, str]:
        """The columns of a csv file and their types."""
        named = {"key": "VARCHAR"} if keys else {}
        scored = {"score": self._scores} if self._scores else {}
        shown = {"columns": "VARCHAR"} | ({"values": "VARCHAR"} if values else {})
        return {"record": "BIGINT", "rows": "BIGINT", **named, **scored, "size": "BIGINT", **shown}

    def write(self, sets: Iterable[int], keys: bool, values: bool, deadline: float | None) -> int:
        """Write the file, completely or not at all; return its number of lines. Raises Stopped, StatementError,
        UsageError."""
        self._number(sets)
        csv = self._path.suffix == ".csv"
        columns = [exp.column("size", table="patterns").as_("rows")]
        if keys:
            columns.append(exp.column("key_text", table="keys").as_("key"))
        if self._scores:
            columns.append(exp.column("score", table="scores").as_("score"))
        columns.append(exp.column("size", table="sets").as_("size"))
        lists = {"columns": exp.column("columns", table="sets")}
        if values:
            lists["values"] = fill("workbench/uniques/values_of_unique").subquery()  # type: ignore[attr-defined]
        columns += [(exp.func("TO_JSON", node) if csv else node).as_(name) for name, node in lists.items()]
        query = fill("workbench/uniques/list_uniques", columns=columns)
        if keys:
            query = query.join("keys", on="keys.pattern = uniques.pattern", join_type="left")  # type: ignore[attr-defined]
        if self._scores:
            query = query.join("scores", on="scores.pattern = uniques.pattern")  # type: ignore[attr-defined]
        written = self._path.with_name(f".{uuid4().hex}{self._path.suffix}")
        try:
            statement = Statement(self._bench.dialect.render(query), "writing of the list", lambda rows: None, written)
            self._bench.run(statement, deadline)
            os.replace(written, self._path)
        except OSError as error:
            raise UsageError(f"--into {self._path} cannot be written ({error.strerror})") from None
        finally:
            written.unlink(missing_ok=True)
        count = fill("workbench/uniques/count_lines", keyed=exp.true() if keys else exp.false())
        [(lines,)] = self._bench.query(count, "counting of lines")
        return integer(lines)

    def _number(self, sets: Iterable[int]) -> None:
        """Store the columns of every set in the workbench."""

        names = self._patterns.names
        named = exp.values(list(enumerate(names)), alias="given", columns=["place", "name"])
        made = making(exp.to_table("column_names"), exp.select("place", "name").from_(named))
        self._bench.query(made, "noting of names")
        self._bench.query(fill("workbench/uniques/set_columns"), "making of a table")
        numbers, places = [], []
        for mask in sets:
            for place in positions(mask) if mask else (-1,):
                numbers.append(self._numbers.get(mask, mask))
                places.append(place)
        if numbers:
            self._bench.add(
                "set_columns", "noting of column sets", set_number=np.array(numbers), place=np.array(places)
            )
