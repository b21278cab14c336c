"""Statements that count the classes of column sets by size."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from sqlglot import exp

from qidsql.measures.profiles import ClassProfile, ClassSizes
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import Relation
from qidsql.sql.templates import (
    ColumnNames,
    Row,
    Statement,
    fill,
    fill_query,
    in_pieces,
    mark,
    mark_of_table,
    marks,
    put_together,
    whole_count,
)


def class_profiles(
    dialect: Dialect, source: Relation, column_sets: Sequence[ColumnNames], k: int
) -> Statement[list[ClassProfile]]:
    """The class profiles of some column sets, none of them empty, in the order given. One statement, a scan per set."""
    head, middle, tail = sizes_text(dialect, source)
    parts = []
    for number, names in enumerate(column_sets):
        columns = ", ".join(source.column_text(dialect, name) for name in names)
        parts.append(f"{head}{number}{middle}{columns}{tail}")
    read = profiles_of_sizes(k, range(len(column_sets)))
    return Statement("\nUNION ALL\n".join(parts), purpose_of("class profile", column_sets), read, scans=len(parts))


def in_one_statement(
    dialect: Dialect, statements: Sequence[Statement[list[ClassProfile]]]
) -> Statement[list[ClassProfile]]:
    """Statements that count class sizes as one, with all their profiles, one statement's after the other's."""
    if len(statements) == 1:
        return statements[0]
    parts = [
        put_together(_numbered(dialect), {"number": str(number), "sizes": each.sql})
        for number, each in enumerate(statements)
    ]

    def read(rows: list[Row]) -> list[ClassProfile]:
        answers: dict[int, list[Row]] = {}
        for number, *sizes in rows:
            answers.setdefault(whole_count(number), []).append(tuple(sizes))
        return [*chain.from_iterable(each.read(answers.get(number, [])) for number, each in enumerate(statements))]

    purpose = "; ".join(dict.fromkeys(each.purpose for each in statements[:3]))
    purpose += "; ..." if len(statements) > 3 else ""
    return Statement("\nUNION ALL\n".join(parts), purpose, read, scans=sum(each.scans for each in statements))


@in_pieces
def _numbered(_: Dialect) -> exp.Expr:
    sizes = exp.Subquery(this=mark("sizes"), alias=exp.TableAlias(this=exp.to_identifier("sizes")))
    return exp.select(exp.alias_(mark("number"), "statement_number"), "sizes.*").from_(sizes)


def entity_profile(
    dialect: Dialect, source: Relation, columns: ColumnNames, k: int, entity: str
) -> Statement[list[ClassProfile]]:
    """The class profile of one column set in distinct entities. One statement, one scan."""
    tree = fill(
        "classes/entity_profile",
        set_number=0,
        relation=source.node,
        entity=source.column(entity),
        k=k,
        **grouping_nodes(source, columns),
    )

    def read(rows: list[Row]) -> list[ClassProfile]:
        for _, classes, count, smallest, largest, below, few, unique, colliding in (map(whole_count, r) for r in rows):
            return [ClassProfile(count, classes, smallest, largest, k, below, few, unique, colliding, True)]
        return [ClassSizes({}, {}, True).profile(k)]

    return Statement(dialect.render(tree), purpose_of("class profile", [columns]), read)


def class_profiles_in_one_scan(
    dialect: Dialect, source: Relation, column_sets: Sequence[ColumnNames], k: int
) -> Statement[list[ClassProfile]]:
    """Profiles of column sets in one scan, by grouping sets. At most `dialect.grouping_arguments` columns."""
    columns, parts, numbers = _grouping_sets(dialect, source, column_sets)
    text = put_together(_sets_frame(dialect, columns), parts)
    return Statement(text, purpose_of("class profile", column_sets), profiles_of_sizes(k, numbers))


def class_profiles_by_finest(
    dialect: Dialect, source: Relation, column_sets: Sequence[ColumnNames], k: int
) -> Statement[list[ClassProfile]]:
    """Profiles of column sets from the classes of all columns together, which are counted in one scan of the rows.

    At most `dialect.grouping_arguments` columns.
    """
    columns, numbers = _grouped(column_sets)
    alias = {name: f"c{place}" for place, name in enumerate(columns)}
    texts = {name: source.column_text(dialect, name) for name in columns}
    parts = {
        "relation": source.text(dialect),
        "columns": ", ".join(texts.values()),
        "aliased": ", ".join(f"{text} AS {alias[name]}" for name, text in texts.items()),
        "sets": ", ".join(f"({', '.join(alias[name] for name in names)})" for names in column_sets),
    }
    text = put_together(_finest_frame(dialect, len(columns)), parts)
    return Statement(text, purpose_of("class profile", column_sets), profiles_of_sizes(k, numbers))


def _grouping_sets(
    dialect: Dialect, source: Relation, column_sets: Sequence[ColumnNames]
) -> tuple[int, dict[str, str], list[int]]:
    """The columns and parts of a statement that counts several sets by grouping sets, and its number of each set."""
    columns, numbers = _grouped(column_sets)
    texts = {name: source.column_text(dialect, name) for name in columns}
    sets = (f"({', '.join(texts[name] for name in names)})" for names in column_sets)
    parts = {f"column{place}": text for place, text in enumerate(texts.values())}
    return len(columns), {**parts, "relation": source.text(dialect), "sets": ", ".join(sets)}, numbers


def _grouped(column_sets: Sequence[ColumnNames]) -> tuple[ColumnNames, list[int]]:
    """All columns of the sets, and the number that GROUPING of these columns gives each set."""
    columns = tuple(dict.fromkeys(name for names in column_sets for name in names))
    bits = {name: 1 << place for place, name in enumerate(reversed(columns))}
    everything = (1 << len(columns)) - 1
    return columns, [everything ^ sum(bits[name] for name in names) for names in column_sets]


def profiles_of_sampled_classes(
    dialect: Dialect, source: Relation, column_sets: Sequence[ColumnNames], k: int, share: int, seed: int | None = None
) -> Statement[list[ClassProfile]]:
    """The profiles of a sample of each set's classes, about one in `share`, whose sizes are exact.

    A class is in the sample or not by the hash of its values in the columns that all the sets have, of which there must
    be one, so the dialect must have `class_hash`. Each seed draws another sample; by default the share does. One
    statement, one scan. Of several sets at most `dialect.grouping_arguments` columns.
    """
    common = tuple(name for name in column_sets[0] if all(name in names for names in column_sets))
    place = _place(dialect, source, common, share if seed is None else seed)
    purpose = purpose_of("class sample", column_sets)
    if len(column_sets) == 1:
        text = _sizes_in_part(dialect, source, column_sets[0], place, 0, share)
        return Statement(text, purpose, profiles_of_sizes(k, [0]))
    columns, parts, numbers = _grouping_sets(dialect, source, column_sets)
    in_part = {"place": place, "parts": str(share), "part": "0"}
    text = put_together(_sets_in_part_frame(dialect, columns), {**parts, **in_part})
    return Statement(text, purpose, profiles_of_sizes(k, numbers))


def class_sizes_in_part(
    dialect: Dialect, source: Relation, columns: ColumnNames, part: int, parts: int
) -> Statement[ClassSizes]:
    """The number of classes of each size in one of several parts. Each class is in one part, by the hash of its values,
    so the dialect must have `class_hash`. One statement, one scan.
    """
    text = _sizes_in_part(dialect, source, columns, _place(dialect, source, columns, 0), part, parts)
    purpose = f"class sizes of {_set(columns)}, part {part + 1} of {parts}"
    return Statement(text, purpose, _sizes_of_rows)


def _place(dialect: Dialect, source: Relation, columns: ColumnNames, seed: int) -> str:
    """A number that all rows of a class have in common."""
    values = {f"value{place}": source.column_text(dialect, name) for place, name in enumerate(columns)}
    return put_together(_shuffled_hash(dialect, len(columns), seed), values)


def _sizes_in_part(dialect: Dialect, source: Relation, columns: ColumnNames, place: str, part: int, parts: int) -> str:
    texts = (source.column_text(dialect, name) for name in columns)
    filled = {"relation": source.text(dialect), "columns": ", ".join(texts), "place": place}
    return put_together(_part_frame(dialect), {**filled, "part": str(part), "parts": str(parts)})


def _sizes_of_rows(rows: list[Row]) -> ClassSizes:
    return ClassSizes.counted({whole_count(size): whole_count(count) for _, size, count in rows})


def class_sizes(
    dialect: Dialect, source: Relation, columns: ColumnNames, entity: str | None = None
) -> Statement[ClassSizes]:
    """The number of classes of each size. One statement, one scan; it returns at most sqrt(2 n) rows."""
    purpose = f"class sizes of {_set(columns)}"
    if entity is None:
        head, middle, tail = sizes_text(dialect, source)
        text = ", ".join(source.column_text(dialect, name) for name in columns)
        return Statement(f"{head}0{middle}{text}{tail}", purpose, _sizes_of_rows)
    tree = fill(
        "classes/entity_sizes",
        relation=source.node,
        entity=source.column(entity),
        **grouping_nodes(source, columns),
    )

    def read(rows: list[Row]) -> ClassSizes:
        by_class = {whole_count(row[0]): whole_count(row[1]) for row in rows if whole_count(row[1])}
        return ClassSizes(
            by_class, {whole_count(row[0]): whole_count(row[2]) for row in rows if whole_count(row[2])}, entities=True
        )

    return Statement(dialect.render(tree), purpose, read)


def column_counts(dialect: Dialect, source: Relation, columns: ColumnNames) -> Statement[tuple[int, tuple[int, ...]]]:
    """The rows of the relation, and the number of NULLs in each column. One statement, one scan."""
    counts = [put_together(_count(dialect), {"column": source.column_text(dialect, name)}) for name in columns]
    parts = {"relation": source.text(dialect), "counts": ", ".join(counts)}
    text = put_together(_counts_frame(dialect, len(columns[:1])), parts)

    def read(rows: list[Row]) -> tuple[int, tuple[int, ...]]:
        total, *present = (whole_count(cell) for cell in rows[0])
        return total, tuple(total - count for count in present)

    nulls = f", and NULLs of {len(columns)} columns" if columns else ""
    return Statement(text, f"rows{nulls}", read)


NEARLY_ALL = 0.9  # of the rows with a value: with so many values a column is taken for an identifier


@dataclass(frozen=True, slots=True)
class TableOverview:
    """What one scan tells: of each column the rows that have a value, and of some the number of values, about."""

    rows: int
    distinct_rows: int | None  # about
    present: Mapping[str, int]
    values: Mapping[str, int]

    @property
    def identifiers(self) -> list[str]:
        """The columns that have about as many values as rows with one."""
        rows = self.present
        return [name for name, number in self.values.items() if number >= NEARLY_ALL * rows[name] and rows[name] > 1]


def table_overview(
    dialect: Dialect, source: Relation, columns: ColumnNames, valued: ColumnNames | None = None
) -> Statement[TableOverview]:
    """The rows, and of each column how many have a value; about how many values the columns `valued` have.

    None: all columns, and about how many rows differ in them. One scan, which these numbers make the more expensive.
    """
    hashed = dialect.class_hash or dialect.row_hash
    together = [dialect.about_distinct(hashed(source.columns(columns)))] if valued is None else []
    valued = columns if valued is None else valued
    present = [exp.Count(this=node, big_int=True) for node in source.columns(columns)]
    values = [dialect.about_distinct(node) for node in source.columns(valued)]

    def read(rows: list[Row]) -> TableOverview:
        total, *found = (whole_count(cell) for cell in rows[0])
        distinct = found.pop(0) if together else None
        here, numbers = found[: len(columns)], found[len(columns) :]
        return TableOverview(
            total, distinct, dict(zip(columns, here, strict=True)), dict(zip(valued, numbers, strict=True))
        )

    counts = _counting(source.node, [*together, *present, *values])
    return Statement(dialect.render(counts), f"overview of {len(columns)} columns", read)


def distinct_hashes(
    dialect: Dialect, source: Relation, column_sets: Sequence[ColumnNames]
) -> Statement[tuple[int, tuple[int, ...]]]:
    """The rows of the relation, and the number of distinct hashes of each column set. One statement, one scan.

    Equal values have equal hashes, so a set has at least as many classes as hashes. For `dialect.hashes_values` only.
    """
    counts: list[exp.Expr] = [
        exp.Count(this=exp.Distinct(expressions=[dialect.row_hash(source.columns(names))]), big_int=True)
        for names in column_sets
    ]
    tree = _counting(source.node, counts)

    def read(rows: list[Row]) -> tuple[int, tuple[int, ...]]:
        total, *hashes = (whole_count(cell) for cell in rows[0])
        return total, tuple(hashes)

    return Statement(dialect.render(tree), f"rows, and different hashes of {len(column_sets)} column sets", read)


def _counting(relation: exp.Expr, counts: Sequence[exp.Expr]) -> exp.Select:
    """The query for the rows of the relation, and these counts."""
    rows = exp.Count(this=exp.Star(), big_int=True).as_("row_count")
    return exp.select(rows, *counts).from_(relation)


@in_pieces
def _counts_frame(_: Dialect, some: int) -> exp.Expr:
    return _counting(mark_of_table("relation"), [mark("counts")] * some)


@in_pieces
def _count(_: Dialect) -> exp.Expr:
    return exp.Count(this=mark("column"), big_int=True)


def grouping_nodes(source: Relation, columns: ColumnNames) -> dict[str, list[exp.Expr]]:
    """The nodes for a column set in templates that group by it, and again by its aliases c0, c1, ..."""
    aliases = [f"c{place}" for place in range(len(columns))]
    nodes = source.columns(columns)
    return {
        "columns": nodes,
        "aliased": [exp.alias_(node, alias) for node, alias in zip(nodes, aliases, strict=True)],
        "names": [exp.column(alias) for alias in aliases],
    }


@lru_cache(maxsize=64)
def sizes_text(dialect: Dialect, source: Relation) -> tuple[str, str, str]:
    """The text for the class sizes before the number, between number and columns, and behind the columns."""
    head, _, before, _, after, _, tail = _sizes_frame(dialect)
    return head, before + source.text(dialect) + after, tail


@in_pieces
def _sizes_frame(_: Dialect) -> exp.Expr:
    """Its holes are number, relation and columns, in this order."""
    relation, columns = mark_of_table("relation"), [mark("columns")]
    classes = fill_query("classes/classes", set_number=mark("number"), relation=relation, columns=columns)
    return fill("classes/class_sizes", classes=classes.subquery("classes"))


@in_pieces
def _sets_frame(_: Dialect, columns: int) -> exp.Expr:
    """Of `class_profiles_in_one_scan` for so many columns."""
    return _sizes_of_sets("classes/classes_of_sets", columns)


@in_pieces
def _sets_in_part_frame(_: Dialect, columns: int) -> exp.Expr:
    """Of `profiles_of_sampled_classes` for several sets of so many columns."""
    return _sizes_of_sets("classes/classes_of_sets_in_part", columns, **marks("place", "parts", "part"))


def _sizes_of_sets(template: str, columns: int, **in_part: exp.Expr) -> exp.Expr:
    holes = {"columns": [mark(f"column{place}") for place in range(columns)], "sets": [mark("sets")]}
    classes = fill_query(template, relation=mark_of_table("relation"), **holes, **in_part)
    return fill("classes/class_sizes", classes=classes.subquery("classes"))


@in_pieces
def _part_frame(_: Dialect) -> exp.Expr:
    relation, columns = mark_of_table("relation"), [mark("columns")]
    in_part = marks("place", "parts", "part")
    classes = fill_query("classes/classes_in_part", set_number=0, relation=relation, columns=columns, **in_part)
    return fill("classes/class_sizes", classes=classes.subquery("classes"))


@in_pieces
def _shuffled_hash(dialect: Dialect, columns: int, seed: int) -> exp.Expr:
    assert dialect.class_hash is not None
    return dialect.shuffled(dialect.class_hash([mark(f"value{place}") for place in range(columns)]), seed)


@in_pieces
def _finest_frame(_: Dialect, columns: int) -> exp.Expr:
    """Of `class_profiles_by_finest` for so many columns."""
    classes = fill_query(
        "classes/classes_by_finest",
        relation=mark_of_table("relation"),
        names=[exp.column(f"c{place}") for place in range(columns)],
        **{hole: [node] for hole, node in marks("columns", "aliased", "sets").items()},
    )
    return fill("classes/class_sizes", classes=classes.subquery("classes"))


def profiles_of_sizes(k: int, numbers: Sequence[int]) -> Callable[[list[Row]], list[ClassProfile]]:
    """Reads class sizes as profiles, in the order of the set numbers; a set without rows has an empty profile."""

    def read(rows: list[Row]) -> list[ClassProfile]:
        sizes: dict[int, dict[int, int]] = {}
        for number, size, count in rows:
            sizes.setdefault(whole_count(number), {})[whole_count(size)] = whole_count(count)
        return [ClassProfile.of_sizes(sizes.get(number, {}), k) for number in numbers]

    return read


def _set(columns: ColumnNames) -> str:
    return " + ".join(columns) if len(columns) <= 4 else f"{len(columns)} columns"


def purpose_of(what: str, column_sets: Sequence[ColumnNames]) -> str:
    """The purpose of a statement about column sets, for messages."""
    if len(column_sets) == 1:
        return f"{what} of {_set(column_sets[0])}"
    sizes = sorted({len(columns) for columns in column_sets})
    return f"{what}s of {len(column_sets)} column sets of {' or '.join(map(str, sizes[:3]))} columns"
