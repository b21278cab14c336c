"""The statements that look into the cells: counts of values that look like identifiers, and a hash of all rows."""

import re
from collections.abc import Mapping, Sequence

from sqlglot import exp

from qidsql.core.tables import Column, Table
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import rows_node
from qidsql.sql.templates import Row, Statement, fill, in_pieces, integer, mark, mark_of_table, put_together, template

TYPES = {  # by their names, of the statements for columns that are no texts
    "byte_contents": r"(?i)(bytea|blob|binary|varbinary)",
    "date_contents": r"(?i)(date$|timestamp|datetime)",
}
# Three digits of a zip code that 20,000 people or fewer share, as the guidance of the US Department of Health and Human
# Services of 2012 lists them. The rule asks for the current census: a reader is told the list.
SPARSE = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
CARD, IBAN = 19, 68  # digits at most; a letter of an account number is two
DIGITS, DOUBLED = "0123456789", "0516273849"  # each digit at the place of its value; of twice it, less 9 from 10 on


def column_contents(dialect: Dialect, table: Table, column: Column, oldest: int) -> Statement[Mapping[str, int]]:
    """How many values of the column look like something that identifies people. One scan of the column.

    `oldest`: the first year of birth of whoever does not turn 90 this year.
    """
    kinds = [kind for kind, types in TYPES.items() if re.match(types, column.type)]
    kind = kinds[0] if kinds else "text_contents"
    parts = {"value": dialect.identifier(column.name), "rows": dialect.render(rows_node(table))}
    names = [each.alias for each in template(f"contents/{kind}").expressions]

    def read(found: list[Row]) -> Mapping[str, int]:
        return dict(zip(names, map(integer, found[0]), strict=True))

    return Statement(put_together(_pieces(dialect, kind, oldest), parts), f"the contents of column {column.name}", read)


@in_pieces
def _pieces(dialect: Dialect, kind: str, oldest: int) -> exp.Expr:
    """The statement for columns of a kind, with marks for the column and the rows."""
    value, rows = mark("value"), mark_of_table("rows")
    if kind == "byte_contents":
        assert dialect.hex_digits is not None
        return fill("contents/byte_contents", value=value, digits=dialect.hex_digits(value), rows=rows)
    if kind == "date_contents":
        return fill("contents/date_contents", value=value, oldest=f"{oldest}-01-01", rows=rows)
    return fill(
        "contents/text_contents",
        value=dialect.as_text(value),
        rows=rows,
        luhn=_luhn(exp.column("card_digits")),
        rest=exp.Mod(this=_weighed(exp.column("iban_digits")), expression=exp.Literal.number(97)),
        iban_digits=_iban_digits(exp.column("compact")),
        sparse=[exp.Literal.string(each) for each in SPARSE.split()],
        oldest=str(oldest),
    )


def rows_digest(dialect: Dialect, table: Table) -> Statement[tuple[str, ...]]:
    """The number of rows and the sums of the parts of their hashes, as texts. One scan of the table."""
    assert dialect.hex_number is not None
    texts = [dialect.as_text(exp.column(exp.to_identifier(each.name, quoted=True))) for each in table.columns]
    parts = {
        name: dialect.hex_number(
            exp.Substring(
                this=exp.column("row_hash"), start=exp.Literal.number(1 + 8 * place), length=exp.Literal.number(8)
            )
        )
        for place, name in enumerate(("first", "second", "third", "fourth"))
    }
    tree = fill("contents/rows_digest", row=told_apart(texts), rows=rows_node(table), **parts)
    return Statement(dialect.render(tree), "the hash of all rows", lambda found: tuple(map(str, found[0])))


def told_apart(texts: Sequence[exp.Expr]) -> exp.Expr:
    """One text from which each of these can be read back, NULL too."""
    marked = [
        exp.Case(
            ifs=[exp.If(this=exp.Is(this=text, expression=exp.null()), true=exp.Literal.string("N"))],
            default=exp.func(
                "CONCAT", exp.cast(exp.Length(this=text.copy()), "TEXT"), exp.Literal.string(":"), text.copy()
            ),
        )
        for text in texts
    ]
    return exp.func("CONCAT", *marked) if marked else exp.Literal.string("")


def _digit(digits: exp.Expr, place: int, values: str = DIGITS) -> exp.Expr:
    """The value of the digit at a place from 0: by its place in a text, as a cast could fail."""
    one = exp.Substring(this=digits.copy(), start=exp.Literal.number(place + 1), length=exp.Literal.number(1))
    return exp.paren(exp.func("STRPOS", exp.Literal.string(values), one) - 1)


def _added(terms: list[exp.Expr]) -> exp.Expr:
    """A sum as a balanced tree: a long chain would be a deep one."""
    while len(terms) > 1:
        terms = [
            exp.Add(this=terms[i], expression=terms[i + 1]) if i + 1 < len(terms) else terms[i]
            for i in range(0, len(terms), 2)
        ]
    return exp.paren(terms[0])


def _luhn(digits: exp.Expr) -> exp.Expr:
    """The sum of reversed digits, every second one doubled."""
    return _added([_digit(digits, place, DOUBLED if place % 2 else DIGITS) for place in range(CARD)])


def _weighed(digits: exp.Expr) -> exp.Expr:
    """A number that has the same rest modulo 97 as these digits."""
    return _added([_digit(digits, place) * (10 ** (IBAN - 1 - place) % 97) for place in range(IBAN)])


def _iban_digits(compact: exp.Expr) -> exp.Expr:
    """The account number with its first four signs at the end, and 10 to 35 for letters."""
    start, four = exp.Literal.number(1), exp.Literal.number(4)
    moved: exp.Expr = exp.func(
        "CONCAT",
        exp.Substring(this=compact.copy(), start=exp.Literal.number(5)),
        exp.Substring(this=compact.copy(), start=start, length=four),
    )
    for place in range(26):
        letter = exp.Literal.string(chr(ord("A") + place))
        moved = exp.Anonymous(this="REPLACE", expressions=[moved, letter, exp.Literal.string(str(10 + place))])
    return moved
