"""Parses the CREATE statements in DuckDB's catalog, for facts that it has in no other form."""

import sqlglot
from sqlglot import exp


def query_of_view(statement: str) -> str:
    """The query in CREATE VIEW name (columns) AS query, unchanged."""
    try:
        tokens = sqlglot.tokenize(statement, read="duckdb")
    except sqlglot.errors.SqlglotError:
        return statement
    for token in tokens:
        if token.token_type.name == "ALIAS":  # the first AS: only names come before it
            return statement[token.end + 1 :].strip().removesuffix(";")
    return statement


def indexed_columns(statement: str) -> tuple[str, ...]:
    """The columns of CREATE UNIQUE INDEX; empty if it is on an expression or cannot be parsed."""
    try:
        tree = sqlglot.parse_one(statement, read="duckdb")
    except sqlglot.errors.SqlglotError:
        return ()
    parts = [part.this if isinstance(part, exp.Ordered) else part for part in _indexed(tree)]
    if not all(isinstance(part, exp.Column) for part in parts):
        return ()
    return tuple(part.name for part in parts)


def _indexed(tree: exp.Expr) -> list[exp.Expr]:
    parameters = tree.find(exp.IndexParameters)
    return list(parameters.args.get("columns") or []) if parameters is not None else []
