"""Values of every type that an engine lists, and of every type made of it, among them such as are spelled in several
ways: the classes of an audit beside the lines of a csv file that the engine itself writes."""

import csv
import io
import re
import sqlite3
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import count, cycle, islice
from random import Random

import duckdb
import psycopg

import qidsql
from qidsql.engines.base import Engine
from qidsql.errors import QidsqlError
from tests.stores import DuckDBStore, PostgresStore, SQLiteStore, Store, opened
from tests.trials import Ground, Trials

ROWS, TOGETHER = 12, 6  # rows of a table; tables that an engine is opened for
FAMILIES = 150  # of literals: a text, and others that may be the same value
ZERO = re.compile(r"(?<![\w.+-])-(?=0(\.0+)?(?![\w.]))")  # the sign of minus zero, which is taken for zero
SIZES = ("", "(3)", "(9, 2)")
ORDINARY = ("INTEGER", "BIGINT", "VARCHAR(9)", "DATE", "BOOLEAN", "DECIMAL(9, 2)", "TIMESTAMP", "UUID", "SMALLINT")


@dataclass(frozen=True)
class Type:
    """What a column is declared as, what a text is cast to, how such a value is wrapped, and what is made before;
    @ is the table."""

    declared: str
    inner: str
    wrapped: Callable[[str], str] = str
    first: str = ""


def _number(draw: Random) -> list[str]:
    whole, part = draw.randrange(13), draw.choice(["", ".5", ".25"])
    text = f"{whole}{part}"
    longer = f"{text}0" if part else f"{text}.0"
    return [text, longer, longer + "0", f"0{text}", f"+{text}", f" {text} ", f"{text}e0", f"-{text}", f"-{longer}"]


def _word(draw: Random) -> list[str]:
    word = "".join(draw.choices(["a", "B", "\u00e9", "ss", "1"], k=draw.randint(1, 3)))
    other = word.replace("\u00e9", "e\u0301").replace("ss", "\u00df")
    return [word, word.upper(), word.lower(), f"{word} ", f" {word}", other, "NULL", ""]


def _moment(draw: Random) -> list[str]:
    date = f"20{draw.randrange(10, 30)}-0{draw.randrange(1, 9)}-1{draw.randrange(9)}"
    time = f"1{draw.randrange(9)}:00:00"
    later = f"1{int(time[1]) + 1}:00:00" if time[1] != "9" else time
    zoned = [f"{date} {time}+00", f"{date} {later}+01", f"{date} {time}.000", f"{time}+00", f"{later}+01"]
    return [date, date.replace("-0", "-"), f"{date} 00:00:00", f"{date} {time}", time, f"{time}.0", "24:00:00", *zoned]


def _span(draw: Random) -> list[str]:
    months = draw.randint(1, 14)
    units = [f"{months} months", f"{months * 30} days", f"{months * 720}:00:00", f"{months * 720} hours"]
    return [*units, f"-{months} months", f"{months - 1} months 30 days", f"{months} days", f"{months * 24} hours"]


def _document(draw: Random) -> list[str]:
    one, other = draw.randrange(3), draw.choice(["true", "null", '"x"', "[1, 2]"])
    document = f'{{"a": {one}, "b": {other}}}'
    turned, spaced = f'{{"b": {other}, "a": {one}}}', f'{{"a":{one},"b":{other}}}'
    return [document, turned, spaced, f'{{"a": {one}.0, "b": {other}}}', f"[{one}]", f"[{one}.0]", f'"{one}"', other]


def _code(draw: Random) -> list[str]:
    digits = "".join(draw.choices("0123456789abcdef", k=32))
    octets = ".".join(str(draw.randrange(4)) for _ in range(4))
    codes = [digits, digits.upper(), f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"]
    codes += [octets, f"{octets}/32", f"{octets}/24", f"{octets[:-2]}.0/24", ":".join(re.findall("..", digits)[:6])]
    bits = "".join(draw.choices("01", k=draw.randint(1, 4)))
    return [*codes, digits[:12], bits, f"0{bits}", f"{bits}0", f"\\x{digits[:4]}", f"{digits[:2]}/{digits[2:4]}"]


def _made(draw: Random) -> list[str]:
    one, other = sorted((draw.randrange(9), draw.randrange(9)))
    date = f"2020-01-1{one}"
    ranges = [f"[{one},{other}]", f"[{one},{other + 1})", f"[{one}.0,{other}]", f"[{date},2020-02-01)", "empty"]
    points = [f"({one},{other})", f"({one}.0,{other})", f"({one},{other}),({other},{one})", f"<({one},{other}),2>"]
    shapes = [f"(({one},{other}),({other},{one}))", f"[({one},{other}),({other},{one})]", f"{{{one},{other},1}}"]
    words = [
        f"a{one} b{other}",
        f"b{other} a{one}",
        f"a{one} & b{other}",
        f"a{one}&b{other}",
        f"$.a{one}",
        f'$."a{one}"',
    ]
    wkt = [f"POINT({one} {other})", f"POINT ({one}.0 {other})", f"LINESTRING ({one} {other}, {other} {one})"]
    return [*ranges, *(f"{{{each}}}" for each in ranges), *points, *shapes, *words, *wkt, f"{one}:{other + 9}:{one}"]


KINDS = (_number, _word, _moment, _span, _document, _code, _made)


def families(draw: Random) -> list[list[str]]:
    """Texts, each beside others that may be the same value to some type."""
    return [draw.choice(KINDS)(draw) for _ in range(FAMILIES)]


class Place(ABC):
    """An engine whose types are tried: what it takes, and what it writes."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @abstractmethod
    def listed(self) -> list[str]:
        """Every type that the engine lists, and those with sizes, also such as it refuses."""

    @abstractmethod
    def made_of(self, kind: str) -> list[Type]:
        """The type alone, and each type that can be made of it."""

    @abstractmethod
    def accepted(self, kind: str, texts: Sequence[str]) -> list[str]:
        """Those of the texts that are values of the type."""

    @abstractmethod
    def lines(self, table: str) -> list[str]:
        """What a csv file of the table has for each row."""

    def made(self, table: str, kind: Type, values: Sequence[str | None]) -> bool:
        """Whether the table could be made."""
        texts = [None if each is None else "'" + each.replace("'", "''") + "'" for each in values]
        cells = ["NULL" if each is None else kind.wrapped(f"CAST({each} AS {kind.inner})") for each in texts]
        try:
            if kind.first:
                self.store.execute(f"CREATE {kind.first}".replace("@", table))
            self.store.execute(f"CREATE TABLE {table} (id INTEGER, a {kind.declared})".replace("@", table))
            rows = ", ".join(f"({place}, {cell})" for place, cell in enumerate(cells)).replace("@", table)
            self.store.execute(f"INSERT INTO {table} VALUES {rows}")
        except (duckdb.Error, psycopg.Error):
            return False
        return True


class InDuckDB(Place):
    store: DuckDBStore

    def listed(self) -> list[str]:
        self.store.execute("CREATE TYPE word AS ENUM ('a', 'A', 'a ', '1', '1.0')")
        with opened(self.store.path) as connection:
            names = connection.sql("SELECT DISTINCT logical_type FROM duckdb_types() ORDER BY 1").fetchall()
        return ["word", "JSON", *(f"{name}{size}" for (name,) in names for size in SIZES)]

    def made_of(self, kind: str) -> list[Type]:
        return [
            Type(kind, kind),
            Type(f"{kind}[]", kind, lambda x: f"[{x}]"),
            Type(f"{kind}[1]", kind, lambda x: f"[{x}]"),
            Type(f"STRUCT(x {kind}, y INTEGER)", kind, lambda x: f"{{'x': {x}, 'y': 1}}"),
            Type(f"MAP({kind}, INTEGER)", kind, lambda x: f"MAP {{{x}: 1}}"),
            Type(f"MAP(INTEGER, {kind})", kind, lambda x: f"MAP {{1: {x}}}"),
            Type(f"UNION(x {kind}, y BOOLEAN[])", kind, lambda x: f"union_value(x := {x})"),
            Type("VARIANT", kind, lambda x: f"CAST({x} AS VARIANT)"),
        ]

    def accepted(self, kind: str, texts: Sequence[str]) -> list[str]:
        with opened(self.store.path) as connection:
            try:
                asked = f"SELECT x FROM unnest(?) AS t(x) WHERE TRY_CAST(x AS {kind}) IS NOT NULL"
                return [x for (x,) in connection.execute(asked, [list(texts)]).fetchall()]
            except duckdb.Error:
                return []

    def lines(self, table: str) -> list[str]:
        path = self.store.path.with_suffix(".csv")
        with opened(self.store.path) as connection:
            connection.execute(f"COPY (SELECT a FROM {table} ORDER BY id) TO '{path}' (HEADER false)")
        return path.read_text(encoding="utf-8").split("\n")[:-1]


class InPostgres(Place):
    store: PostgresStore

    def listed(self) -> list[str]:
        self.store.execute("CREATE TYPE word AS ENUM ('a', 'A', 'a ', '1', '1.0')")
        names = self._asked(
            "SELECT format_type(oid, NULL) FROM pg_type "
            "WHERE typtype IN ('b', 'r', 'm') AND typcategory <> 'A' AND oid < 16384 ORDER BY 1"
        )
        return ["word", *(f"{name}{size}" for name in names for size in SIZES)]

    def made_of(self, kind: str) -> list[Type]:
        return [
            Type(kind, kind),
            Type(f"{kind}[]", kind, lambda x: f"ARRAY[{x}]"),
            Type("own_@", kind, lambda x: f"ROW({x}, 1)", f"TYPE own_@ AS (x {kind}, y int)"),
            Type("own_@", kind, lambda x: f"own_@(NULL, {x})", f"TYPE own_@ AS RANGE (SUBTYPE = {kind})"),
            Type("own_@", kind, str, f"DOMAIN own_@ AS {kind}"),
        ]

    def accepted(self, kind: str, texts: Sequence[str]) -> list[str]:
        try:
            quoted = kind.replace("'", "''")
            return self._asked(
                f"SELECT x FROM unnest(%s::text[]) AS x WHERE pg_input_is_valid(x, '{quoted}')", list(texts)
            )
        except psycopg.Error:
            return []

    def lines(self, table: str) -> list[str]:
        copied = f"COPY (SELECT a FROM {table} ORDER BY id) TO STDOUT (FORMAT csv)".encode()
        with self.store.admin.cursor() as cursor, cursor.copy(copied) as lines:
            return [bytes(line).decode() for line in lines]

    def _asked(self, sql: str, *parameters: object) -> list[str]:
        return [str(row[0]) for row in self.store.admin.execute(sql.encode(), parameters or None).fetchall()]


class InSQLite(Place):
    store: SQLiteStore

    def listed(self) -> list[str]:
        return ["INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC"]

    def made_of(self, kind: str) -> list[Type]:
        alone = [Type(each, kind) for each in ("", *self.listed(), "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM")]
        mixed = [Type(each, kind, lambda x: f"CAST({x} AS REAL)" if len(x) % 2 else x) for each in ("", "BLOB")]
        return [*alone, *mixed]  # any column takes values of any type

    def accepted(self, kind: str, texts: Sequence[str]) -> list[str]:
        return list(texts)

    def lines(self, table: str) -> list[str]:
        with closing(sqlite3.connect(self.store.path)) as connection:
            cells = connection.execute(f"SELECT a FROM {table} ORDER BY id").fetchall()
        return ["" if cell is None else _csv(cell) for (cell,) in cells]


def _csv(cell: object) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow([cell])
    return written.getvalue()


def types(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one column of one type, or one table of columns of ordinary types."""
    with ExitStack() as held:
        places = [
            InDuckDB(held.enter_context(DuckDBStore(ground.folder / "types.duckdb"))),
            InPostgres(held.enter_context(PostgresStore(ground.postgres_url()))),
            InSQLite(held.enter_context(SQLiteStore(ground.folder / "types.sqlite"))),
        ]
        streams = [_columns(place, seed) for place in places[:2]] + [_columns(places[2], seed)]
        streams += [_ordinary(place, seed) for place in places[:2]]
        order = cycle((0, 1, 0, 1, 3, 4, 0, 1, 2))
        yield from islice((next(streams[each]) for each in order), number)


def _columns(place: Place, seed: int) -> Iterator[str | None]:
    draw = Random(f"{seed} {place.store.name}")
    kinds = place.listed()
    draw.shuffle(kinds)
    pools: dict[str, list[list[str]]] = {}
    made: list[tuple[str, str]] = []
    for number in count():
        kind = kinds[number % len(kinds)]
        among = place.made_of(kind)
        chosen = among[(number // len(kinds) + number % len(kinds)) % len(among)]  # each of all kinds, in turn
        if kind not in pools:
            pools[kind] = _pool(place, kind, families(draw))
        if not pools[kind]:
            continue
        if place.made(f"t{number}", chosen, _values(draw, pools[kind])):
            made.append((f"t{number}", f"{chosen.first or chosen.declared} of {kind}"))
        if len(made) == TOGETHER:
            lines = [place.lines(table) for table, _ in made]
            with place.store.connect() as engine:
                wrong = [_wrong(engine, *each) for each in zip(made, lines, strict=True)]
            for (table, kind_of), found in zip(made, wrong, strict=True):
                place.store.execute(f"DROP TABLE {table}")
                yield found and f"{place.store.name} seed {seed} {table} ({kind_of}): {found}"
            made = []


def _pool(place: Place, kind: str, texts: list[list[str]]) -> list[list[str]]:
    taken = set(place.accepted(kind, sorted({text for family in texts for text in family})))
    kept = ([text for text in family if text in taken] for family in texts)
    return [family for family in kept if family]


def _values(draw: Random, pool: list[list[str]]) -> list[str | None]:
    chosen = draw.choices(pool, k=3)
    return [
        draw.choice([*draw.choice(chosen), None] if not place % 5 else draw.choice(chosen)) for place in range(ROWS)
    ]


def _wrong(engine: Engine, made: tuple[str, str], written: list[str]) -> str | None:
    """Where the classes are not the lines. What has a type of its own in each cell can have more of them than lines."""
    table, typed = made[0], "VARIANT" in made[1] or engine.dialect.name == "sqlite"
    same, apart = Counter(ZERO.sub("", line) for line in written), Counter(written)
    try:
        result = qidsql.audit(engine, table, columns=["a"], k=2)
        keys = qidsql.keys(engine, table, columns=["a"]).column_sets
    except QidsqlError as error:
        return f"{type(error).__name__}: {error}"
    if result.profile is None or result.profile.rows != len(written):
        return f"{result.verdict} without a profile of all rows: {result.account.notes}"
    classes, exact = result.profile.classes, len(same) == len(apart) and not typed
    if not len(same) <= classes or (classes > len(apart) and not typed):
        return f"{classes} classes of {len(same)} to {len(apart)} lines: {sorted(apart)}"
    if exact and (result.verdict == "pass") != (min(same.values()) >= 2):
        return f"{result.verdict}, the rarest line is there {min(same.values())} times"
    if exact and bool(keys) != (len(same) == len(written)):
        return f"a key is {'found' if keys else 'not found'} among {len(same)} lines of {len(written)}"
    return None


def _ordinary(place: Place, seed: int) -> Iterator[str | None]:
    """Tables whose values have one spelling each: they are audited, by the engine's own equality, without a note."""
    draw = Random(f"{seed} {place.store.name} ordinary")
    number = 0
    while True:
        kinds = draw.sample(ORDINARY, 3)
        rows = [[draw.randrange(3) for _ in kinds] for _ in range(draw.randint(2, 20))]
        cells = (", ".join(map(_plain, kinds, row)) for row in rows)
        place.store.execute(f"CREATE TABLE o (a {kinds[0]}, b {kinds[1]}, c {kinds[2]})")
        place.store.execute(f"INSERT INTO o VALUES {', '.join(f'({each})' for each in cells)}")
        with place.store.connect() as engine:
            result = qidsql.audit(engine, "o", k=2)
        place.store.execute("DROP TABLE o")
        found = result.profile and result.profile.classes
        shown = {tuple(map(_plain, kinds, row)) for row in rows}
        right = found == len(shown) and not any("compared" in note for note in result.account.notes)
        yield None if right else f"{place.store.name} ordinary {number} {kinds}: {found} classes of {len(shown)}"
        number += 1


def _plain(kind: str, value: int) -> str:
    texts = {
        "VARCHAR(9)": f"'{value}'",
        "DATE": f"DATE '2020-01-0{value + 1}'",
        "BOOLEAN": str(value > 0).upper(),
        "TIMESTAMP": f"TIMESTAMP '2020-01-01 0{value}:00:00'",
        "UUID": f"CAST('00000000-0000-0000-0000-00000000000{value}' AS UUID)",
    }
    return texts.get(kind, str(value))


TRIALS = Trials("types: the classes of an audit, beside the lines of the engine's csv", 2_250, 27, types)
