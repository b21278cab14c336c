"""Small random tables of awkward values, each with what is to be taken for equal.

A kind of column is a type and a pool of values. A value is the text that goes into the INSERT and a token: two values
are equal exactly when their tokens are. That is the engine's equality, except where it merges values that a reader
can tell apart. NULL is None in both places.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from random import Random

from tests.definitions import Values
from tests.stores import Store, quoted

Pool = Sequence[tuple[str, Hashable]]


class Bare(str):
    """A value that goes into the INSERT without quotes."""


def _plain(*texts: str) -> Pool:
    return [(text, text) for text in texts]


# Texts that any two readers can tell apart: case, blanks at the ends, accents, two ways to write one letter
TEXTS = _plain("a", "A", "a ", " a", "", "\u00e9", "e\u0301", "NULL", "'; --", "a\nb", "%s")

KINDS: dict[str, Pool] = {
    "INTEGER": _plain("0", "1", "2", "-2147483648"),
    "BIGINT": _plain("9223372036854775807", "9223372036854775806", "-1"),  # one apart, and one as a float
    "BOOLEAN": _plain("true", "false"),
    "DOUBLE PRECISION": [
        ("NaN", "nan"),
        ("-NaN", "nan"),
        ("0.0", 0),
        ("-0.0", 0),
        ("0.1", 1),
        ("0.10000000000000002", 2),
        ("Infinity", "inf"),
        ("-Infinity", "-inf"),
    ],
    "REAL": [("NaN", "nan"), ("0.0", 0), ("-0.0", 0), ("16777216", 1), ("16777217", 1), ("1.5", 2)],
    "DECIMAL(6,2)": [("1.0", 1), ("1.00", 1), ("1", 1), ("1.01", 2), ("-0.00", 0), ("0", 0)],
    "DECIMAL(38,10)": _plain("1234567890123456789012345678.0000000001", "1234567890123456789012345678.0000000002"),
    "DATE": _plain("2024-02-29", "1582-10-10", "infinity"),
    "TIMESTAMP": _plain("2024-01-01 00:00:00", "2024-01-01 00:00:00.000001", "infinity", "1969-12-31 23:59:59.999999"),
    "TIMESTAMPTZ": [
        ("2024-10-27 00:30:00+00", 0),
        ("2024-10-27 02:30:00+02", 0),
        ("2024-10-27 02:30:00+01", 1),
        ("infinity", 2),
    ],
    "TIME": _plain("00:00:00", "23:59:59.999999"),
    # By text: the engines take 1 month for 30 days, a reader does not
    "INTERVAL": [("1 month", "1 mon"), ("1 mon", "1 mon"), *_plain("30 days", "720 hours", "29 days", "1 day")],
    "UUID": [
        ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", 1),
        ("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", 1),
        ("00000000-0000-0000-0000-000000000000", 0),
    ],
    "VARCHAR": TEXTS,
    "VARCHAR(9)": TEXTS,
    "JSON": _plain('{"a":1}', '{"a": 1}', "1", "1.0"),  # compared as text
}
# Types of values, not of columns: what is no text is not put into quotes
VALUES: Pool = [
    ("1", "1"),
    (Bare("1"), 1),
    (Bare("1.0"), "as a float"),
    (Bare("x'31'"), b"1"),
    ("", ""),
    (Bare("x''"), b""),
]
NUMBERS: Pool = [
    ("1", 1),
    ("1.0", 1),
    (" 1", 1),
    ("01", 1),
    ("1e0", 1),
    ("1x", "1x"),
    ("0.1", 0.1),
    ("-0.0", 0),
    ("0", 0),
]
OF_SQLITE: dict[str, Pool] = {
    "INTEGER": [*NUMBERS, ("9223372036854775807", 2**63 - 1), ("9223372036854775806", 2**63 - 2)],
    "NUMERIC": [*NUMBERS, (Bare("9007199254740993"), 2**53 + 1), (Bare("9007199254740992.0"), 2**53)],
    "REAL": [*NUMBERS, ("0.10000000000000002", 2), (Bare("9e999"), "inf"), (Bare("-9e999"), "-inf")],
    "TEXT": [*TEXTS, *_plain("1", "1.0"), (Bare("x'61'"), b"a")],
    "BLOB": VALUES,
    "": VALUES,
    "DATE": _plain("2024-02-29", "2024-02-29 00:00:00"),
    "TEXT COLLATE NOCASE": TEXTS,
    "VARCHAR(9) COLLATE RTRIM": TEXTS,
    "NUMERIC COLLATE NOCASE": [*NUMBERS, *_plain("x", "X"), (Bare("x'61'"), b"a")],
}
OWN: dict[str, dict[str, Pool]] = {
    "postgres": {"CHAR(5)": [(text, text.rstrip(" ")) for text, _ in TEXTS]},  # blanks at the end are padding
    # qidsql tells apart what a reader can, not what a collation does. (PyPI's Postgres has no such collation.)
    "duckdb": {"CHAR(5)": TEXTS, "VARCHAR COLLATE NOCASE": TEXTS, "VARCHAR COLLATE NOCASE.NOACCENT": TEXTS},
}


# What parquet files and Spark have in common
OF_SPARK: dict[str, Pool] = {
    kind: [(text, token) for text, token in pool if text != "infinity"]
    for kind, pool in KINDS.items()
    if kind not in ("TIME", "INTERVAL", "UUID", "JSON")
}
PEOPLE = {
    "sqlite": ("INTEGER", "TEXT", "", "REAL"),
    "spark": ("INTEGER", "VARCHAR"),
    "others": ("INTEGER", "VARCHAR", "CHAR(5)", "DOUBLE PRECISION"),
}


@dataclass(frozen=True)
class RandomTable:
    """`rows` holds tokens, `texts` what is inserted; the last column is the entity's, always there."""

    name: str
    types: tuple[str, ...]
    texts: tuple[tuple[str | None, ...], ...]
    rows: tuple[Values, ...]

    @property
    def columns(self) -> int:
        """How many columns can be put into classes."""
        return len(self.types) - 1

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"c{place}" for place in range(self.columns))

    @property
    def entities(self) -> list[Hashable]:
        return [row[-1] for row in self.rows]

    @property
    def statements(self) -> list[str]:
        """What makes the table."""
        names = (*self.names, "person")
        parts = [f"{quoted(name)} {kind}" for name, kind in zip(names, self.types, strict=True)]
        create = f"CREATE TABLE {quoted(self.name)} ({', '.join(parts)})"
        if not self.texts:
            return [create]
        values = ", ".join(f"({', '.join(_literal(text) for text in row)})" for row in self.texts)
        return [create, f"INSERT INTO {quoted(self.name)} VALUES {values}"]


def random_table(seed: int, engine: str) -> RandomTable:
    """The same table for the same seed: 0 to 24 rows, 1 to 4 columns, few values so that many rows agree."""
    draw = Random(seed)
    kinds = {"sqlite": OF_SQLITE, "spark": OF_SPARK}.get(engine) or {**KINDS, **OWN[engine]}
    types = draw.choices(list(kinds), k=draw.choices((1, 2, 3, 4), (3, 10, 6, 1))[0])
    people = draw.choice(PEOPLE.get(engine, PEOPLE["others"]))
    pools = []
    for kind in (*types, people):
        pool: list[tuple[str | None, Hashable]] = draw.sample(list(kinds[kind]), draw.randint(1, len(kinds[kind])))
        if draw.random() < 0.5:
            pool += [(None, None)] * draw.randint(1, 3)
        pools.append(pool)
    size = draw.choice((0, 1, 2, draw.randint(3, 8), draw.randint(3, 24), draw.randint(3, 24)))
    cells = [[draw.choice(pool) for pool in pools] for _ in range(size)]
    if cells and draw.random() < 0.3:
        cells += [draw.choice(cells) for _ in range(draw.randint(1, 6))]
    return RandomTable(
        name=f"t{seed}",
        types=(*types, people),
        texts=tuple(tuple(text for text, _ in row) for row in cells),
        rows=tuple(tuple(token for _, token in row) for row in cells),
    )


def of_persons_with_a_row_each(table: RandomTable) -> RandomTable:
    """The table with other persons, each of one row; the first of every second table is NULL."""
    persons = [None if not place and len(table.rows) % 2 else str(place) for place in range(len(table.rows))]
    return replace(
        table,
        types=(*table.types[:-1], "INTEGER"),
        texts=tuple((*row[:-1], person) for row, person in zip(table.texts, persons, strict=True)),
        rows=tuple((*row[:-1], person) for row, person in zip(table.rows, persons, strict=True)),
    )


def load(store: Store, tables: Sequence[RandomTable]) -> None:
    """All the tables in one go."""
    together(store, [statement for table in tables for statement in table.statements])


def drop(store: Store, tables: Sequence[RandomTable]) -> None:
    together(store, [f"DROP TABLE {quoted(table.name)}" for table in tables])


def together(store: Store, statements: Sequence[str]) -> None:
    """In one transaction: a commit each would take most of the time."""
    store.execute(";\n".join(["BEGIN", *statements, "COMMIT"]))


def _literal(text: str | None) -> str:
    if text is None or isinstance(text, Bare):
        return text or "NULL"
    return "'" + text.replace("'", "''") + "'"
