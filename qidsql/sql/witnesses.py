"""The statement that compares rows of small classes with all classes. It returns only counts and bit masks."""

from collections import defaultdict

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.masks import add, lanes_of, mask_of
from qidsql.sql.relation import Relation
from qidsql.sql.row_pairs import difference_bit
from qidsql.sql.statements import ColumnNames, Row, Statement, integer
from qidsql.sql.templates import fill


def witness_rows(
    dialect: Dialect, source: Relation, columns: ColumnNames, k: int, witnesses: int, most: int
) -> Statement[list[dict[int, int]]]:
    """For each witness row {mask: rows that differ from it in exactly these columns}; NULL equals NULL.

    The witnesses are of the classes of all columns with fewer than k rows, at most so many, first those with the rarest
    values; the same rows have the same witnesses. None at all if there are `most` masks or more: a class of which some
    rows are missing would look small. One statement, one scan; it compares each witness with each class.
    """
    nodes = source.columns(columns)
    if dialect.hashes_values:
        nodes = [dialect.row_hash([node]) for node in nodes]
    names = [exp.column(f"c{place}") for place in range(len(columns))]
    lanes = lanes_of(len(columns))
    masks = [exp.column(f"mask_{lane}") for lane in range(len(lanes))]
    bits = [add(difference_bit(place, "one", "other") for place in lane) for lane in lanes]
    tree = fill(
        "witnesses/witness_rows",
        relation=source.node,
        columns=nodes,
        aliased=[exp.alias_(node, name.name) for node, name in zip(nodes, names, strict=True)],
        common=add(_rows_with(name) for name in names),
        order=[dialect.row_hash(names), *dialect.decided(names)],
        k=k,
        witnesses=witnesses,
        masks=[exp.alias_(bit, mask.name) for bit, mask in zip(bits, masks, strict=True)],
        names=masks,
        most=most,
    )

    def read(answer: list[Row]) -> list[dict[int, int]]:
        found: dict[int, dict[int, int]] = defaultdict(dict)
        for witness, rows, *cells in answer:
            found[integer(witness)][mask_of(cells)] = integer(rows)
        return [found[witness] for witness in sorted(found)] if len(answer) < most else []

    return Statement(dialect.render(tree), f"rows of small classes in {len(columns)} columns", read)


def _rows_with(name: exp.Column) -> exp.Expr:
    """The rows with the same value in the column."""
    return exp.Window(this=exp.Sum(this=exp.column("class_size")), partition_by=[name])
