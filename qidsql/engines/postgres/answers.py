"""What the queries to the catalog answer, column by column: an answer that is otherwise comes from no Postgres."""

from collections.abc import Callable, Collection, Sequence
from decimal import Decimal

from qidsql.core.tables import Comparison
from qidsql.engines.postgres.errors import understood
from qidsql.sql.templates import Row

Cell = Callable[[object], object]  # the cell as it is to be; raises TypeError or ValueError if it cannot be one
CATALOG = "reading of the catalog"
KINDS = {"r": "table", "v": "view", "m": "materialized view", "p": "partitioned table", "f": "foreign table"}

OBSTACLES = {
    "temporary": "{name} is a temporary table of another session, which only that one can read; copy it into a table",
    "schema": "the role {role} lacks USAGE on schema {schema}; run: GRANT USAGE ON SCHEMA {quoted_schema} TO {role}",
    "table": "the role {role} may not read {name}; run: GRANT SELECT ON {quoted} TO {role}",
    "row security": "row-level security hides rows of {name} from the role {role}; audit as its owner or a role that "
    "has BYPASSRLS, else the answer would leave people out",
    "unpopulated": "the materialized view {name} is not populated; run: REFRESH MATERIALIZED VIEW {quoted}",
}


def text(cell: object) -> str:
    if not isinstance(cell, str):
        raise TypeError
    return cell


def flag(cell: object) -> bool:
    if not isinstance(cell, bool):
        raise TypeError
    return cell


def _whole(cell: object) -> int:
    if isinstance(cell, bool) or not isinstance(cell, int | Decimal):
        raise TypeError
    return int(cell)


def texts(cell: object) -> list[str]:
    if not isinstance(cell, list):
        raise TypeError
    return [text(each) for each in cell]


def comparison(cell: object) -> Comparison:
    return Comparison(text(cell))


def one_of(known: Collection[str]) -> Cell:
    def found(cell: object) -> str:
        if cell not in known:
            raise ValueError
        return str(cell)

    return found


def or_null(cell: Cell) -> Cell:
    return lambda found: None if found is None else cell(found)


CELLS: dict[str, tuple[Cell, ...]] = {  # by the names of templates
    "catalog_foreign_keys": (_whole, texts, _whole, texts),
    "catalog_keys": (_whole, texts),
    "catalog_labels": (_whole, or_null(text), text, text),
    "catalog_views": (_whole, or_null(text)),
    "changed_settings": (text,),
    "columns": (text, text, flag, flag, comparison, _whole, text),
    "condition_columns": (text, text, flag),
    "dependences": (text, text, flag),
    "doctor_path": (text, flag, or_null(text)),
    "doctor_session": (text, text, flag, flag, flag, flag, or_null(flag), _whole, _whole, _whole, _whole, _whole),
    "doctor_tables": (text, text, flag, flag, flag, flag, or_null(flag), or_null(flag), or_null(flag)),
    "keywords": (text,),
    "place": (flag, flag, flag, or_null(text), flag),
    "rows_as_analyzed": (or_null(_whole), or_null(_whole)),
    "session": (text, text, text, or_null(text), flag, flag, text),
    "state_token": (text, text, text, text, or_null(text)),
    "table_bytes": (or_null(_whole), or_null(_whole)),
    "tables": (_whole, text, text, one_of(KINDS), or_null(_whole), or_null(one_of(OBSTACLES)), flag, flag, flag),
}
ONE_ROW = ("doctor_session", "place", "rows_as_analyzed", "session", "table_bytes")


def answered(template: str, rows: Sequence[Row]) -> list[Row]:
    """The rows with each cell of its type. Raises StatementError."""
    with understood(CATALOG):
        if template in ONE_ROW and len(rows) != 1:
            raise ValueError
        return [tuple(made(cell) for made, cell in zip(CELLS[template], row, strict=True)) for row in rows]
