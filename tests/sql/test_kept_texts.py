"""Statements whose text is kept in a file, and names and texts that are quoted without sqlglot."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from qidsql.core.tables import Column, Table, TableName
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.engines.spark.dialect import SPARK
from qidsql.engines.sqlite.dialect import SQLITE
from qidsql.sql import pieces
from qidsql.sql.dialects import Dialect
from qidsql.sql.relation import name_text, relation, table_node
from tests.sql.kept_texts import FOLDER, KEPT, functions, texts

ANY = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20)
QUOTES = st.text("\"'`\\\n;-- a$[]", min_size=1, max_size=12)
DIALECTS = pytest.mark.parametrize("dialect", [DUCKDB, POSTGRES, SPARK, SQLITE], ids=lambda dialect: dialect.name)


@pytest.mark.parametrize("dialect", KEPT, ids=lambda dialect: dialect.name)
def test_the_file_has_what_sqlglot_renders(dialect: Dialect) -> None:
    kept = json.loads((FOLDER / dialect.name / "rendered.json").read_text(encoding="utf-8"))
    assert {name: tuple(parts) for name, parts in kept.items()} == texts(dialect), "python -m tests.sql.kept_texts"


@pytest.mark.parametrize("dialect", KEPT, ids=lambda dialect: dialect.name)
def test_what_is_kept_is_looked_up(dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "pieces_of", lambda dialect, tree: pytest.fail("rendered"))
    for function, arguments in functions(dialect):
        function.cache_clear()
        assert function(dialect, *arguments)


@DIALECTS
@given(name=ANY | QUOTES)
def test_names_and_texts_are_quoted_as_by_sqlglot(dialect: Dialect, name: str) -> None:
    assert dialect.identifier(name) == exp.to_identifier(name, quoted=True).sql(dialect.name)
    assert dialect.literal(name) == exp.Literal.string(name).sql(dialect.name)


@DIALECTS
@given(parts=st.tuples(ANY | QUOTES, st.just("") | ANY, st.just("") | QUOTES))
def test_a_relation_is_the_rendered_tree(dialect: Dialect, parts: tuple[str, str, str]) -> None:
    name = TableName(parts[0], parts[1], parts[2] if parts[1] else "")
    column = Column(name=parts[0], type="INTEGER", nullable=True)
    source = relation(dialect, Table(name, "table", (column,)), [column])
    assert name_text(dialect, name) == dialect.render(table_node(name))
    assert source.text(dialect) == dialect.render(source.node)
    assert source.column_text(dialect, parts[0]) == dialect.render(source.column(parts[0]))
