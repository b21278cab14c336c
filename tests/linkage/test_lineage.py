"""What views show of tables, on real engines' own view definitions."""

import pytest

from qidsql.core.tables import Attribute, Catalog, CatalogColumn, CatalogTable, TableName
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.linkage.lineage import Lineage, lineage
from tests.stores import Store, quoted

VIEWS = {
    # the view's query: its columns' bases, "=" where the column is shown as it is, ">" where it is computed
    "SELECT id AS nr, born FROM people": {"nr": "= people.id", "born": "= people.born"},
    "SELECT * FROM people": {name: f"= people.{name}" for name in ("id", "born", "zip")},
    "SELECT p.*, v.ward FROM people p JOIN visits v ON v.person = p.id": {
        "id": "= people.id",
        "born": "= people.born",
        "zip": "= people.zip",
        "ward": "= visits.ward",
    },
    "SELECT date_trunc('year', born) AS born_in, zip || '!' AS loud FROM people": {
        "born_in": "> people.born",
        "loud": "> people.zip",
    },
    "SELECT zip || ward AS both_of FROM people JOIN visits ON person = id": {"both_of": "> people.zip visits.ward"},
    "WITH y AS (SELECT id AS who, zip FROM people WHERE born > DATE '2000-01-01') SELECT who, zip AS code FROM y": {
        "who": "= people.id",
        "code": "= people.zip",
    },
    "SELECT x.a FROM (SELECT y.a FROM (SELECT (id) AS a FROM people) AS y) AS x": {"a": "= people.id"},
    "SELECT zip AS place FROM people UNION ALL SELECT ward FROM visits": {"place": "= people.zip = visits.ward"},
    "SELECT zip AS place FROM people EXCEPT SELECT ward FROM visits": {"place": "= people.zip"},
    "SELECT zip, COUNT(*) AS persons, MIN(born) AS oldest FROM people GROUP BY zip": {"zip": "= people.zip"},
    "SELECT id, row_number() OVER (ORDER BY born) AS place FROM people": {"id": "= people.id"},
    "SELECT id, (SELECT MAX(ward) FROM visits WHERE person = people.id) AS last_ward FROM people": {
        "id": "= people.id"
    },
    "SELECT a.id, b.zip FROM people a JOIN people b ON a.id = b.id": {"id": "= people.id", "zip": "= people.zip"},
    "SELECT 1 AS one, id FROM people": {"id": "= people.id"},
    "WITH RECURSIVE up (n) AS (SELECT id FROM people UNION ALL SELECT n + 1 FROM up WHERE n < 3) SELECT n FROM up": {
        "n": "= people.id"
    },
    "SELECT CASE WHEN zip = 'x' THEN born END AS maybe FROM people": {"maybe": "> people.born people.zip"},
}


@pytest.fixture
def views(store: Store) -> Store:
    store.table("people", {"id": "INTEGER", "born": "DATE", "zip": "VARCHAR"}, [])
    store.table("visits", {"person": "INTEGER", "ward": "VARCHAR"}, [])
    return store


def read(store: Store) -> tuple[Lineage, Catalog]:
    with store.connect() as engine:
        catalog = engine.catalog("main" if store.name == "duckdb" else store.schema)  # type: ignore[attr-defined]
        return lineage(catalog, engine.dialect), catalog


def shown(found: Lineage, view: str) -> dict[str, str]:
    told: dict[str, list[str]] = {}
    for pair in found.same_attributes:
        if pair.left.table.name == view:
            told.setdefault(pair.left.column, []).append(f"= {pair.right.table.name}.{pair.right.column}")
    for dependency in found.dependencies:
        if dependency.dependent.table.name == view:
            bases = " ".join(f"{each.table.name}.{each.column}" for each in dependency.determinants)
            told.setdefault(dependency.dependent.column, []).append(f"> {bases}")
    return {column: " ".join(origins) for column, origins in told.items()}


def test_the_columns_behind_the_columns_of_views(views: Store) -> None:
    for number, query in enumerate(VIEWS):
        views.execute(f"CREATE VIEW v{number} AS {query}")
    found, _ = read(views)
    assert found.notes == []
    for number, (query, expected) in enumerate(VIEWS.items()):
        assert shown(found, f"v{number}") == expected, query


def test_names_given_in_front_of_the_query_count(views: Store) -> None:
    views.execute('CREATE VIEW v ("Nr", zip) AS SELECT zip, id FROM people')
    found, _ = read(views)
    assert shown(found, "v") == {"Nr": "= people.zip", "zip": "= people.id"}


def test_views_of_views_lead_from_one_to_the_next(views: Store) -> None:
    views.execute("CREATE VIEW lower_view AS SELECT id AS a FROM people")
    views.execute("CREATE VIEW upper_view AS SELECT a AS b FROM lower_view")
    found, _ = read(views)
    assert shown(found, "upper_view") == {"b": "= lower_view.a"}
    assert shown(found, "lower_view") == {"a": "= people.id"}


def test_tables_of_other_schemas_and_of_the_same_name(views: Store) -> None:
    views.execute("CREATE SCHEMA elsewhere")
    try:
        views.execute("CREATE TABLE elsewhere.people (id INTEGER, colour VARCHAR)")
        views.execute("CREATE VIEW v AS SELECT e.colour, p.zip FROM elsewhere.people e JOIN people p ON p.id = e.id")
        with views.connect() as engine:
            found = lineage(engine.catalog(), engine.dialect)
        bases = {
            pair.left.column: pair.right.table.schema for pair in found.same_attributes if pair.left.table.name == "v"
        }
        assert bases["colour"] == "elsewhere" and bases["zip"] not in ("elsewhere", "")
        alone, _ = read(views)  # the other schema is not in this catalog
        assert shown(alone, "v") == {}
        assert [note for note in alone.notes if ".v was not followed" in note] != []
    finally:
        views.execute("DROP SCHEMA elsewhere CASCADE")


def test_hostile_names(store: Store) -> None:
    names = ['a"b', "semi;colon", "Ünïcode 名", "select", "1 AS x FROM y --", "table 0"]
    for place, name in enumerate(names):
        other = names[place - 1]
        store.table(f"{name} t", {name: "INTEGER", other: "INTEGER"}, [])
        store.execute(
            f"CREATE VIEW {quoted(name)} AS SELECT x.{quoted(name)} AS {quoted(other)} FROM {quoted(name + ' t')} AS x"
        )
    found, _ = read(store)
    assert {(j.left.table.name, j.left.column, j.right.table.name, j.right.column) for j in found.same_attributes} == {
        (name, names[place - 1], f"{name} t", name) for place, name in enumerate(names)
    }


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        ("SELECT FROM WHERE (", "cannot be read"),
        ("SELECT a FROM gone", "gone is not in the catalog"),
        ("SELECT a FROM read_csv('x.csv')", "reads from a function or a file"),
        ("DROP TABLE t", "of an unknown kind"),
    ],
)
def test_a_view_that_cannot_be_followed_is_said(definition: str, reason: str) -> None:
    good = CatalogTable(TableName("t", "main"), "table", (CatalogColumn("a", "INTEGER"),))
    bad = CatalogTable(TableName("v", "main"), "view", (CatalogColumn("a", "INTEGER"),), definition=definition)
    fine = CatalogTable(TableName("w", "main"), "view", (CatalogColumn("a", "INTEGER"),), definition="SELECT A FROM T")
    found = lineage(Catalog((good, bad, fine)), DUCKDB)
    assert [pair.right for pair in found.same_attributes] == [Attribute(good.name, "a")]
    [note] = found.notes
    assert "main.v was not followed" in note and reason in note
