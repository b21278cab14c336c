"""The text of a statement in pieces: rendered once, with marks where one statement differs from the next.

So each of thousands of column sets costs a join of rendered pieces, not a syntax tree.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Any

from sqlglot import exp

from qidsql.sql.dialects import Dialect

MARK = "part_of_the_statement_"  # needs no quotes, which differ between engines


def mark(hole: str) -> exp.Expr:
    """A node at the place of an expression."""
    return exp.column(f"{MARK}{hole}")


def marks(*holes: str) -> dict[str, exp.Expr]:
    return {hole: mark(hole) for hole in holes}


def mark_of_table(hole: str) -> exp.Expr:
    """A node at the place of a table."""
    return exp.to_table(f"{MARK}{hole}")


def pieces_of(dialect: Dialect, tree: exp.Expr) -> tuple[str, ...]:
    """The statement's text in pieces, with the names of the holes between them. Uses the tree up."""
    return tuple(re.split(rf"{MARK}(\w+)", dialect.render(tree)))


def put_together(pieces: Sequence[str], parts: Mapping[str, str]) -> str:
    """The text with these parts in the holes."""
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def in_pieces(build: Callable[..., exp.Expr]) -> Any:
    """Makes a cached function that returns the text of the tree in pieces. It takes a dialect, and numbers or words."""

    @lru_cache(maxsize=4096)
    @wraps(build)
    def pieces(dialect: Dialect, *arguments: int | str) -> tuple[str, ...]:
        return pieces_of(dialect, build(dialect, *arguments))

    return pieces
