"""Templates and the text that is made of them: every file parses, holes must match, the text is the golden one."""

from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.sql.classes import profiles_of_sizes
from qidsql.sql.dialects import Dialect
from qidsql.sql.templates import Statement, fill, template
from tests.sql.golden_statements import FOLDER, golden
from tests.stores import Store

TEMPLATES = Path(__file__).parents[2] / "sql_templates"
FILES = [path.relative_to(TEMPLATES) for path in TEMPLATES.rglob("*.sql")]
NAMES = sorted(
    str(path.with_suffix("")) for path in FILES if not path.name.startswith("shell_")
)  # a script is run whole


@pytest.mark.parametrize("name", NAMES)
def test_every_template_parses_as_one_statement(name: str) -> None:
    reads = (exp.Query, exp.Describe)
    writes = (
        exp.Create,
        exp.Grant,
        exp.Revoke,
        exp.Insert,
        exp.Update,
        exp.Delete,
        exp.Drop,
        exp.Attach,
    )  # the workbench, copies, scripts
    assert isinstance(template(name), reads + writes)


@pytest.mark.parametrize("name", NAMES)
def test_every_template_says_what_it_is_for_and_names_its_holes(name: str) -> None:
    lines = (TEMPLATES / f"{name}.sql").read_text(encoding="utf-8").splitlines()
    comment = "\n".join(line for line in lines if line.startswith("--"))
    assert lines[0].startswith("-- ") and not lines[0].startswith(("-- Parameters:", "-- Result:"))
    assert "-- Result:" in comment or not isinstance(template(name), exp.Query), "what does it return?"
    for hole in template(name).find_all(exp.Placeholder):
        assert f":{hole.name}" in comment or "as in entity_profile.sql" in comment, hole.name


def test_golden_texts() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert texts == dict(golden()), "python -m tests.sql.golden_statements writes them anew"


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_golden_text_is_one_query_that_reads_or_a_script_for_people(path: Path) -> None:
    name, dialect, _ = path.name.split(".")
    trees = sqlglot.parse(path.read_text(encoding="utf-8"), read=dialect)
    if name.startswith(("publish", "grant")):
        assert all(isinstance(tree, (exp.Create, exp.Grant, exp.Revoke)) for tree in trees)
    elif name.startswith(("create", "drop", "suppression")):  # the copy that was asked for, or printed
        assert all(isinstance(tree, (exp.Create, exp.Drop, exp.Update)) for tree in trees)
    else:
        assert [isinstance(tree, exp.Query) for tree in trees] == [True]


def test_holes_and_arguments_must_match() -> None:
    node = exp.to_table("t")
    with pytest.raises(ValueError, match=r"classes/class_sizes has the holes \['classes'\], got \[\]"):
        fill("classes/class_sizes")
    with pytest.raises(ValueError, match=r"got \['classes', 'k'\]"):
        fill("classes/class_sizes", classes=node, k=5)
    with pytest.raises(ValueError, match=r"got \['klasses'\]"):
        fill("classes/class_sizes", klasses=node)


def test_filling_leaves_the_template_as_it_was() -> None:
    before = template("classes/class_sizes").sql()
    fill("classes/class_sizes", classes=exp.to_table("t"))
    assert template("classes/class_sizes").sql() == before


def test_a_filled_node_can_be_used_again() -> None:
    table, column = exp.to_table("t"), exp.column("a", table="t")
    trees = [fill("classes/classes", set_number=1, relation=table, columns=[column]) for _ in range(3)]
    assert len({tree.sql() for tree in trees}) == 1
    nodes = [id(node) for tree in trees for node in tree.walk()]
    assert len(nodes) == len(set(nodes)), "no node stands in two trees"


def test_a_text_becomes_a_literal_and_nothing_else() -> None:
    evil = "x'; DROP TABLE people; --"
    text = fill("classes/classes", relation=exp.to_table("t"), columns=[exp.column("a")], set_number=evil).sql(
        "postgres"
    )
    assert "'x''; DROP TABLE people; --'" in text


@pytest.mark.parametrize("dialect", [DUCKDB, POSTGRES], ids=lambda dialect: dialect.name)
def test_no_comment_of_a_template_reaches_the_engine(dialect: Dialect) -> None:
    assert "--" in (TEMPLATES / "classes/class_sizes.sql").read_text(encoding="utf-8")
    assert "/*" not in dialect.render(fill("classes/class_sizes", classes=exp.to_table("t")))


def test_pairs_of_five_billion_rows_in_one_class(store: Store) -> None:
    """More pairs than 64 bits hold, signed or not."""
    sizes = exp.values([(0, 5_000_000_000), (0, 4_999_999_999)], "classes", ["set_number", "class_size"])
    with store.connect() as engine:
        text = engine.dialect.render(fill("classes/class_sizes", classes=sizes))
        [profile] = engine.run(Statement(text, "two large classes", profiles_of_sizes(2, [0])))
    assert profile.rows == 9_999_999_999
    assert profile.colliding_pairs == 5_000_000_000 * 4_999_999_999 + 4_999_999_999 * 4_999_999_998
