"""Hierarchies of values as nodes: the label of a value at a level, and the codes of values, classes and rows.

A label is a text, made by an expression of the column, or listed by a file. All statements count, or make codes.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from sqlglot import exp

from qidsql.core.recodings import Recoding, RecodingKind
from qidsql.core.tables import Column, Comparison, Table
from qidsql.sql.dialects import Dialect
from qidsql.sql.judged_classes import ClassRule, judged_rows, rows_of_safe_classes
from qidsql.sql.relation import Relation, condition, recoded, rows_node
from qidsql.sql.templates import fill, fill_query, in_pieces, mark_of_table, marks, put_together

Label: TypeAlias = Callable[[exp.Expr], exp.Expr]  # of a column's value, as text; NULL: the value has its own text

# Labels of dates: texts that sort by time. Dates outside these years, as infinite ones, are their own labels.

FIRST, LAST = "0001-01-01", "9999-12-31"
LARGEST_LABELLED = 10**15  # of a number of floating point that has a label


def by_month(value: exp.Expr) -> exp.Expr:
    """2014-09."""
    return _joined(_year(value), "-", exp.func("LPAD", _text(_part("MONTH", value)), _number(2), _quoted("0")))


def by_quarter(value: exp.Expr) -> exp.Expr:
    """2014-Q3."""
    return _joined(_year(value), "-Q", _text(_part("QUARTER", value)))


def by_day(value: exp.Expr) -> exp.Expr:
    """2014-09-03, whatever the time of day."""
    return _joined(by_month(value), "-", exp.func("LPAD", _text(_part("DAY", value)), _number(2), _quoted("0")))


@cache
def by_years(years: int) -> Label:
    """2014, or 2010-2014, counted from the year 0."""

    def label(value: exp.Expr) -> exp.Expr:
        if years == 1:
            return _year(value)
        year = _part("YEAR", value)
        start = exp.paren(
            exp.Sub(this=year, expression=exp.paren(exp.Mod(this=year.copy(), expression=_number(years))))
        )
        end = exp.paren(exp.Add(this=start.copy(), expression=_number(years - 1)))
        return _joined(_padded(start), "-", _padded(end))

    return label


def _year(value: exp.Expr) -> exp.Expr:
    return _padded(_part("YEAR", value))


def _padded(year: exp.Expr) -> exp.Expr:
    return exp.func("LPAD", _text(year), _number(4), _quoted("0"))


def _part(unit: str, value: exp.Expr) -> exp.Expr:
    """A part of a date of these years, else NULL."""
    day = exp.cast(value.copy(), "DATE")
    ends = [exp.cast(_quoted(end), "DATE") for end in (FIRST, LAST)]
    known = exp.Case(ifs=[exp.If(this=exp.Between(this=day, low=ends[0], high=ends[1]), true=day.copy())])
    return exp.cast(exp.Extract(this=exp.var(unit), expression=known), "BIGINT")


# Labels of numbers: intervals on a fixed grid from 0.


@cache
def by_width(width: int, whole: bool, floating: bool = False) -> Label:
    """20-39 of whole numbers, else [20, 40): from 20 to below 40."""

    def label(value: exp.Expr) -> exp.Expr:
        low = start_of_step(value, width, floating)
        high = exp.paren(exp.Add(this=low.copy(), expression=_number(width - whole)))
        start, end = _text(low), _text(high)
        if not whole:
            return _joined("[", start, ", ", end, ")")
        dash = exp.Case(ifs=[exp.If(this=low.copy() < 0, true=_quoted(" to "))], default=_quoted("-"))
        return _joined(start, dash, end)

    return label


@cache
def by_ends(between: Label | None, bottom: int | None, top: int | None) -> Label:
    """<20 and >=90 of numbers beyond these ends, if there are; `between` them, another label, or the value's own."""

    def label(value: exp.Expr) -> exp.Expr:
        within = _has_label(value)
        ends = []
        if bottom is not None:
            ends.append(exp.If(this=exp.and_(within.copy(), value.copy() < bottom), true=_quoted(f"<{bottom}")))
        if top is not None:
            ends.append(exp.If(this=exp.and_(within.copy(), value.copy() >= top), true=_quoted(f">={top}")))
        return exp.Case(ifs=ends, default=between(value) if between else exp.null())

    return label


def start_of_step(value: exp.Expr, width: int, floating: bool) -> exp.Expr:
    """Where the interval of this width begins that a number is in; NULL where it has none."""
    exact = _floor(value) if floating else value.copy()
    return exp.cast(recoded(exact, Recoding(RecodingKind.WIDTH, width)), "DECIMAL(38, 0)")


def ends_with_rows(dialect: Dialect, table: Table, column: Column, width: int, floating: bool, least: int) -> str:
    """The text of the query for the first start of a step below which so many rows are, and the last one from which on
    so many are."""
    start = start_of_step(original(column), width, floating)
    tree = fill("hierarchies/ends", start=start, least=least, table=rows_node(table), condition=condition(table))
    return dialect.render(tree)


@cache
def steps_of(width: int) -> Label:
    """Which interval of this width a whole number is in: the quotient, rounded down, of what divides towards 0."""

    def step(value: exp.Expr) -> exp.Expr:
        above = exp.IntDiv(this=value.copy(), expression=_number(width))
        below = exp.IntDiv(this=exp.paren(value.copy() + 1), expression=_number(width)) - 1
        return exp.Case(ifs=[exp.If(this=value.copy() < 0, true=below)], default=above)

    return step


def _floor(value: exp.Expr) -> exp.Expr:
    """The whole number below one of floating point, exactly; NULL for what is not a number, or too large."""
    known = exp.Case(ifs=[exp.If(this=_has_label(value), true=value.copy())])
    return exp.cast(exp.Floor(this=known), "DECIMAL(18, 0)")


def _has_label(value: exp.Expr) -> exp.Expr:
    """Whether a number is one, and not too large to have a label."""
    return exp.and_(value.copy() > -LARGEST_LABELLED, value.copy() < LARGEST_LABELLED)


# Labels of codes of equal length.


@cache
def by_prefix(length: int, whole: int) -> Label:
    """941** of a code of `whole` characters."""

    def label(value: exp.Expr) -> exp.Expr:
        start = exp.Anonymous(this="SUBSTR", expressions=[value.copy(), _number(1), _number(length)])
        return _joined(start, "*" * (whole - length))

    return label


def _number(number: int) -> exp.Expr:
    return exp.Literal.number(number)


def _quoted(text: str) -> exp.Expr:
    return exp.Literal.string(text)


def _text(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "VARCHAR")


def _joined(*parts: exp.Expr | str) -> exp.Expr:
    """The parts as one text; NULL if one is."""
    nodes = [_quoted(part) if isinstance(part, str) else part for part in parts]
    joined = nodes[0]
    for node in nodes[1:]:
        joined = exp.DPipe(this=joined, expression=node, safe=True)
    return exp.paren(joined)


# The values of a column with their labels: l0 the value, l1 its label on the next level, ...


def original(column: Column) -> exp.Column:
    return exp.column(exp.to_identifier(column.name, quoted=True))


def audited(table: Table, *figures: exp.Expr) -> exp.Select:
    """The query for figures of the audited rows."""
    return exp.select(*figures).from_(rows_node(table)).where(condition(table))


def comparable(dialect: Dialect, column: Column, value: exp.Expr, listed: bool) -> exp.Expr:
    """What values are told apart by: their text, if a file lists them."""
    return (
        exp.Cast(this=value, to=dialect.type(dialect.text)) if listed else dialect.comparable(value, column.comparison)
    )


def labelled_values(dialect: Dialect, table: Table, column: Column, labels: Sequence[Label]) -> exp.Query:
    """The query for the values of the audited rows with these labels. One scan."""
    made = [
        exp.alias_(_labelled_original(dialect, label).copy(), f"l{level}", copy=False)
        for level, label in enumerate(labels, start=1)
    ]
    return fill_query(
        "hierarchies/values",
        original=value_to_label(dialect, column),
        comparable=comparable(dialect, column, original(column), listed=False),
        table=rows_node(table),
        condition=condition(table),
        labels=made or [exp.column("original")],
    )


def values_told_apart(dialect: Dialect, table: Table, column: Column, labels: Mapping[int, tuple[Label, bool]]) -> str:
    """The text of `labelled_values` with these labels alone, by level; put together, as what-ifs ask it of many tables.
    True: what is given is no label, but tells the labels apart."""
    texts = [f"{_label_text(dialect, *label)} AS l{level}" for level, label in labels.items()]
    parts = {
        "original": dialect.render(value_to_label(dialect, column)),
        "comparable": dialect.render(comparable(dialect, column, original(column), listed=False)),
        "table": dialect.render(rows_node(table)),
        "condition": dialect.render(condition(table)),
        "labels": ", ".join(texts or ["original"]),
    }
    return put_together(_values(dialect), parts)


@in_pieces
def _values(_: Dialect) -> exp.Expr:
    holes = marks("original", "comparable", "condition", "labels")
    return fill("hierarchies/values", table=mark_of_table("table"), **holes)


@lru_cache(maxsize=256)
def _label_text(dialect: Dialect, label: Label, key: bool) -> str:
    value = exp.column("original")
    return dialect.render(label(value) if key else _labelled_original(dialect, label).copy())


def labels_of_values(columns: Sequence[tuple[int, int, str]], most: int) -> str:
    """The text of the query for how many labels each level of columns has: the number, then `most` + 1 figures.
    Each column has a number, its levels and the query for its values with their labels."""
    arms = []
    for number, levels, values in columns:
        figures = [f"COUNT(DISTINCT l{level})" for level in range(levels + 1)] + ["0"] * (most - levels)
        arms.append(f"SELECT {number}, {', '.join(figures)} FROM ({values}) AS labelled")
    return " UNION ALL ".join(arms)


@lru_cache(maxsize=256)  # the same for every column: to build it costs more than to copy it
def _labelled_original(dialect: Dialect, label: Label) -> exp.Expr:
    return labelled(dialect, exp.column("original"), label)


def value_to_label(dialect: Dialect, column: Column) -> exp.Expr:
    """What the labels of a column are made from."""
    plain = column.comparison in (Comparison.VALUE, Comparison.PUBLISHED, Comparison.NUMBER)
    return original(column) if plain else comparable(dialect, column, original(column), listed=False)


def labelled(dialect: Dialect, value: exp.Expr, label: Label) -> exp.Expr:
    """The label of a value, or its own text where it has none."""
    return exp.func("COALESCE", label(value), exp.Cast(this=value.copy(), to=dialect.type(dialect.text)))


def listed_values(lines: Sequence[Sequence[str]]) -> exp.Query:
    """The values with their labels, from the lines of a file: the value's text, then its labels."""
    columns = [f"l{level}" for level in range(len(lines[0]))]
    return exp.select(*columns).from_(exp.values([tuple(line) for line in lines], alias="listed", columns=columns))


def values_of_table(dialect: Dialect, table: Table, names: Sequence[str]) -> exp.Query:
    """The values with their labels, from these columns of a table of lines."""
    cells = [
        exp.Cast(this=exp.column(exp.to_identifier(each, quoted=True)), to=dialect.type(dialect.text)) for each in names
    ]
    lines = [exp.alias_(cell, f"l{level}") for level, cell in enumerate(cells)]
    return exp.select(*lines).distinct().from_(rows_node(table))


def values_outside_file(dialect: Dialect, table: Table, column: Column, place: int, values: str) -> exp.Query:
    """How many values have no line. `values` is the expression with the lines."""
    return fill_query(
        "hierarchies/outside",
        place=place,
        text=comparable(dialect, column, original(column), listed=True),
        table=rows_node(table),
        condition=condition(table),
        labelled=exp.to_table(values),
    )


def level_figures(place: int, level: int, top: bool, values: str) -> exp.Query:
    """place, level, labels, the most with one parent, labels with two parents, values without a label. `values` is the
    expression with the labels; above the last level all have one parent."""
    label = exp.column(f"l{level}")
    return fill_query(
        "hierarchies/level",
        place=place,
        level=level,
        label=label,
        parent=exp.func("NULLIF", label, label.copy()) if top else exp.column(f"l{level + 1}"),
        labelled=exp.to_table(values),
    )


# Codes.


def coded_values(values: exp.Query, shifts: Sequence[int]) -> exp.Query:
    """The values with codes: the place of the label of level j among its siblings, from bit `shifts[j]` on."""
    names = [f"l{level}" for level in range(len(shifts))]
    ranks, leaves = [], []
    for level, name in enumerate(names):
        top = level + 1 == len(names)
        parent = None if top else [exp.column(names[level + 1])]
        rank: exp.Expr = exp.Window(
            this=exp.Anonymous(this="DENSE_RANK"),
            partition_by=parent,
            order=exp.Order(expressions=[exp.Ordered(this=exp.column(name))]),
        )
        ranks.append(exp.alias_(rank if top else exp.Sub(this=rank, expression=_number(1)), f"r{level}"))
        if level:
            counted = exp.Window(this=exp.Count(this=exp.Star(), big_int=True), partition_by=[exp.column(name)])
            leaves.append(exp.alias_(counted, f"leaves{level}"))
    parts = [
        exp.cast(exp.column(f"r{level}"), "BIGINT") * exp.cast(_number(1 << shift), "BIGINT")
        for level, shift in enumerate(shifts)
    ]
    code: exp.Expr = parts[0]
    for part in parts[1:]:
        code = exp.Add(this=code, expression=part)
    return fill_query(
        "hierarchies/coded_values",
        labels=[exp.column(name) for name in names],
        ranks=ranks,
        leaves=leaves or [exp.alias_(_number(1), "leaves0")],
        leaf_names=[exp.column(f"leaves{level}") for level in range(1, len(names))] or [exp.column("leaves0")],
        labelled=values.subquery("labelled", copy=False),
        code=code,
    )


def rows_with_codes(
    dialect: Dialect,
    table: Table,
    columns: Sequence[Column],
    listed: Sequence[bool],
    values: Sequence[exp.Query],
    words: Sequence[Sequence[int]],
    others: Sequence[exp.Expr],
    copied: Sequence[Column] = (),
) -> exp.Query:
    """The query for the codes of every audited row, as words, beside other expressions of o0, o1, ... and d0, d1, ...

    `values` are the coded values of the columns, `words` the places of the columns in each word; o0, o1, ... are
    `columns`, then `copied`. One scan, and one of each column.
    """
    originals = [exp.alias_(original(column), f"o{place}") for place, column in enumerate((*columns, *copied))]
    packed = []
    for number, places in enumerate(words):
        codes = []
        for place in places:
            null = exp.Is(this=exp.column(f"o{place}", table="originals"), expression=exp.null())
            code = exp.column("code", table=f"d{place}")
            codes.append(exp.Case(ifs=[exp.If(this=null, true=_number(0))], default=code))
        word: exp.Expr = codes[0]
        for each in codes[1:]:
            word = exp.Add(this=word, expression=each)
        packed.append(exp.alias_(exp.cast(word, "BIGINT"), f"w{number}"))
    query = fill_query(
        "hierarchies/coded_rows",
        originals=originals,
        table=rows_node(table),
        condition=condition(table),
        words=packed,
        others=list(others) or [exp.alias_(_number(1), "one")],
    )
    assert isinstance(query, exp.Select)
    for place, (column, coded) in enumerate(zip(columns, values, strict=True)):
        own = comparable(dialect, column, exp.column(f"o{place}", table="originals"), listed[place])
        coded = coded.subquery(f"d{place}", copy=False)
        query = query.join(coded, on=own.eq(exp.column("l0", table=f"d{place}")), join_type="left", copy=False)
    return query


def classes_in_pieces(
    dialect: Dialect,
    table: Table,
    columns: Sequence[Column],
    words: Sequence[str],
    others: Sequence[str],
    joined: str,
    sums: Sequence[str],
) -> str:
    """The text of the query for the classes of equal `words` of the audited rows, with `sums` of `others`: expressions
    of o0, o1, ..., the columns, and of what is `joined` to them."""
    names = ", ".join(f"w{number}" for number in range(len(words)))
    coded = rows_in_pieces(dialect, table, columns, words, others, joined)
    parts = {"words": names, "sums": ", ".join(sums) or "1 AS one", "coded": f"({coded}) AS coded"}
    return put_together(_coded_classes(dialect), parts)


def rows_in_pieces(
    dialect: Dialect, table: Table, columns: Sequence[Column], words: Sequence[str], others: Sequence[str], joined: str
) -> str:
    """The text of the query for `words` and `others` of the audited rows, as for `classes_in_pieces`."""
    rows = {
        "originals": ", ".join(f"{dialect.identifier(each.name)} AS o{place}" for place, each in enumerate(columns)),
        "table": dialect.render(rows_node(table)),
        "condition": dialect.render(condition(table)),
        "words": ", ".join(f"{word} AS w{number}" for number, word in enumerate(words)),
        "others": ", ".join(others) or "1 AS one",
    }
    return put_together(_coded_rows(dialect), rows) + joined


@in_pieces
def _coded_rows(_: Dialect) -> exp.Expr:
    return fill(
        "hierarchies/coded_rows", table=mark_of_table("table"), **marks("originals", "condition", "words", "others")
    )


@in_pieces
def _coded_classes(_: Dialect) -> exp.Expr:
    return fill("hierarchies/coded_classes", coded=mark_of_table("coded"), **marks("words", "sums"))


def coded_classes(rows: exp.Query, words: Sequence[str], sums: Sequence[str]) -> exp.Query:
    """The classes of equal codes: the words, their rows n, and the sums of further columns under their names."""
    return fill_query(
        "hierarchies/coded_classes",
        words=[exp.column(word) for word in words],
        sums=[exp.alias_(exp.Sum(this=exp.column(name)), name) for name in sums] or [exp.alias_(_number(1), "one")],
        coded=rows.subquery("coded", copy=False),
    )


# What becomes of the classes if some levels are published: a batch of nodes in one statement.


def figures_of_classes(dialect: Dialect, classes: str, words: Sequence[str], sums: Sequence[str]) -> str:
    """The text of the query for the classes, the rows, those with a code in every word, and sums of further columns."""
    coded = [
        exp.Sum(this=exp.Case(ifs=[exp.If(this=exp.column(word).is_(exp.null()), true=exp.column("n"))]))
        for word in words
    ]
    figures = [exp.Count(this=exp.Star()), exp.Sum(this=exp.column("n"))]
    query = exp.select(*figures, *coded, *(exp.Sum(this=exp.column(name)) for name in sums))
    return _over(dialect.render(query.from_("classes")), classes)


def merged_classes(
    dialect: Dialect,
    classes: str,
    masks: Sequence[Sequence[int]],
    k: int,
    sums: Sequence[Sequence[str]],
    share: int = 1,
) -> str:
    """The text of the query for the rows in classes below k for each node: its number, the rows, and the sums of its
    columns `sums` over these rows, of which all nodes have the same number. With a `share`, a power of 2, of one class
    in so many alone, by a hash of its own bits: each of these is whole. `classes` is a query."""
    head = _merged(dialect)
    arms = []
    for node, (mask, names) in enumerate(zip(masks, sums, strict=True)):
        parts = {
            "node": str(node),
            "k": str(k),
            "classes": "classes",
            "masked": ", ".join(f"w{word} & {bits}" for word, bits in enumerate(mask)),
            "sampled": "TRUE" if share == 1 else _sampled(dialect, mask, share),
            "class_sums": ", ".join(["0 AS s", *(f"SUM({name}) AS s{place}" for place, name in enumerate(names))]),
            "sums": ", ".join(
                ["0", *(f"SUM(CASE WHEN class_size < {k} THEN s{place} ELSE 0 END)" for place in range(len(names)))]
            ),
        }
        arms.append(put_together(head, parts))
    return _over("\nUNION ALL\n".join(arms), classes)


def judged_nodes(
    dialect: Dialect,
    classes: str,
    masks: Sequence[Sequence[int]],
    rule: ClassRule,
    sums: Sequence[Sequence[str]],
) -> str:
    """The text of the query for the same by a rule: for each node its number and the figures of `judged_rows`, in
    several rows of which each has a part. `classes` has what the rule is about."""
    carried, arms = ", ".join((*rule.carried, "n")), []
    for node, (mask, names) in enumerate(zip(masks, sums, strict=True)):
        masked = [f"w{word} & {bits}" for word, bits in enumerate(mask)]
        arms += judged_rows(dialect, rule, node, "classes", masked, carried, names)
    return _over("\nUNION ALL\n".join(arms), classes)


def judged_labels(
    dialect: Dialect, source: Relation, names: Sequence[str], rule: ClassRule, about: Sequence[str]
) -> str:
    """The same of these rows by the values of their columns, without codes. `about`: the columns that it is about."""
    order = exp.Order(expressions=[exp.Ordered(this=column) for column in source.columns(names)])
    number = exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=order)  # as a label can be NULL
    carried = [f"{source.column_text(dialect, name)} AS {own}" for name, own in zip(about, rule.carried, strict=True)]
    arms = judged_rows(
        dialect, rule, 0, source.text(dialect), [dialect.render(number)], ", ".join((*carried, "1 AS n")), []
    )
    return "\nUNION ALL\n".join(arms)


def _over(query: str, classes: str) -> str:
    """The query over these classes: those of a query, or the rows of a table."""
    return f"WITH classes AS (\n{classes}\n)\n{query}"


@in_pieces
def _merged(_: Dialect) -> exp.Expr:
    return fill(
        "hierarchies/merged_classes",
        classes=mark_of_table("classes"),
        **marks("node", "k", "masked", "sampled", "class_sums", "sums"),
    )


def _sampled(dialect: Dialect, mask: Sequence[int], share: int) -> str:
    assert dialect.class_hash is not None
    bits: list[exp.Expr] = [
        exp.paren(exp.BitwiseAnd(this=exp.column(f"w{word}"), expression=_number(each)))
        for word, each in enumerate(mask)
    ]
    remainder = exp.paren(exp.BitwiseAnd(this=dialect.class_hash(bits), expression=_number(share - 1)))
    return dialect.render(remainder.eq(0))


def rows_at_levels(
    rows: exp.Query, masks: Sequence[int], names: Sequence[str], rule: ClassRule, classes: exp.Query | None = None
) -> exp.Query:
    """The query for the cells c0, c1, ... of these rows under their names, without those in classes that miss the rule
    by their own rows. `classes`: the same rows with what it is about, if that is more than k rows."""
    masked = [
        exp.BitwiseAnd(this=exp.column(f"w{word}"), expression=exp.cast(_number(bits), "BIGINT"))
        for word, bits in enumerate(masks)
    ]
    if classes is None:
        return _published(rows, masked, names, rule.k)
    return rows_of_safe_classes(rule, rows, masked, names, classes)


def rows_with_labels(
    table: Table, cells: Sequence[exp.Expr], deciding: Sequence[exp.Expr], names: Sequence[str], k: int
) -> exp.Query:
    """The same from the audited rows, whichever they are when it runs: `cells` are made of their columns, and what
    decides a class of the cells c0, c1, ..."""
    parts = [exp.alias_(each, f"c{place}") for place, each in enumerate(cells)]
    return _published(audited(table, *parts), deciding, names, k)


def rows_in_classes(rows: exp.Query, deciding: Sequence[exp.Expr], names: Sequence[str], k: int) -> exp.Query:
    """The query for these rows without those in classes below k. `deciding` is made of the cells c0, c1, ..., which are
    those of the columns of these names."""
    cells = [
        exp.alias_(exp.column(exp.to_identifier(name, quoted=True)), f"c{place}") for place, name in enumerate(names)
    ]
    return _published(exp.select(*cells).from_(rows.subquery("shown")), deciding, names, k)


def _published(rows: exp.Query, deciding: Sequence[exp.Expr], names: Sequence[str], k: int) -> exp.Query:
    cells = [exp.column(f"c{place}") for place in range(len(names))]
    return fill_query(
        "hierarchies/published_rows",
        coded=rows.subquery("coded", copy=False),
        deciding=list(deciding),
        cells=cells,
        published=[
            exp.alias_(cell.copy(), exp.to_identifier(name, quoted=True))
            for cell, name in zip(cells, names, strict=True)
        ],
        k=k,
    )
