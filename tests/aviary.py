"""Marked values of every type, on both engines and in files, whole and broken; and what would be heard of them."""

import re
from pathlib import Path

import duckdb

from tests.stores import PostgresStore, Store

ROWS = 1000
SECRET = "cnrysecret"  # in URLs
HIDDEN = re.compile(
    r"cnry|636e7279|77000\d{4}|\b77000\.|2077-0|10\.77\.|ab77cdef|\(77\.5", re.IGNORECASE
)  # in every value
HASH = re.compile(r"\b[0-9a-f]{64}\b")  # may hold any figures
SHARED = {  # by a name of each type: a thousand values, but for the types that have fewer
    "a_text": "'cnry' || i",
    "a_code": "CAST('cnry' || i % 20 AS VARCHAR(9))",
    "an_integer": "CAST(770001000 + i AS INTEGER)",
    "a_bigint": "770000000001 + 7919 * i",
    "a_decimal": "CAST(7700000001 + i AS DECIMAL(20, 4))",
    "a_real": "CAST(77000 + 0.0009 * i AS REAL)",
    "a_double": "CAST(77000 + 0.0009 * i AS DOUBLE PRECISION)",
    "a_day": "DATE '2077-01-01' + CAST(i % 200 AS INTEGER)",
    "a_moment": "TIMESTAMP '2077-02-01 00:00:00' + INTERVAL '1' MINUTE * CAST(i % 9 AS INTEGER)",
    "a_uuid": "CAST('ab77cdef-ab77-4a77-8a77-' || lpad(CAST(i AS VARCHAR), 12, '0') AS UUID)",
    "mixed": "CASE WHEN i % 3 = 0 THEN 'cnry' || i ELSE '770001000' END",
    "grp": "i % 4",
}
OF_POSTGRES = {
    "a_padded": "CAST('cnry' || i AS CHAR(12))",
    "a_zoned": "TIMESTAMPTZ '2077-02-01 00:00:00+00' + INTERVAL '1 minute' * (i % 9)",
    "bytes": "convert_to('cnry' || i, 'UTF8')",
    "a_json": "CAST(json_build_object('k', 'cnry' || i) AS json)",
    "a_jsonb": "CAST(json_build_object('k', 'cnry' || i) AS jsonb)",
    "texts": "ARRAY['cnry' || i, 'cnry']",
    "an_address": "CAST('10.77.' || i % 9 || '.1' AS inet)",
    "a_range": "int8range(770001000, 770001000 + i)",
    "a_point": "point(77.5, i)",
    "words": "to_tsvector('simple', 'cnry' || i)",
    "a_record": "ROW('cnry' || i, 770001000)::aviary",
    "a_domain": "CAST('cnry' || i AS plumage)",
    "a_label": "CAST('cnry' || i % 5 AS kinds)",
}
OF_DUCKDB = {
    "huge": "CAST(770000000001 + i AS HUGEINT)",
    "bytes": "CAST('cnry' || i AS BLOB)",
    "a_list": "['cnry' || i, 'cnry']",
    "a_record": "{'inner': 'cnry' || i}",
    "a_map": "MAP {'cnry' || i: 770001000 + i}",
    "a_json": "CAST('{\"k\": \"cnry' || i || '\"}' AS JSON)",
    "a_label": "CAST('cnry' || i % 5 AS kinds)",
}
LABELS = ", ".join(f"'cnry{i}'" for i in range(5))
BROKEN = {  # views of the right form that fail on a value as they are read
    "casts": "SELECT CAST(mixed AS INTEGER) AS a, grp FROM birds",
    "divides": "SELECT an_integer / (an_integer - 770001500) AS a, grp FROM birds",
    "overflows": "SELECT CAST(a_bigint AS SMALLINT) AS a, grp FROM birds",
    "dates": "SELECT CAST(a_text AS DATE) AS a, grp FROM birds",
    "raises": "SELECT shout(a_text) AS a, grp FROM birds",
}
FEW = "a_text, an_integer, a_bigint, a_label, mixed"
WHERE = (
    "CAST(mixed AS INTEGER) > 0",
    "an_integer / (an_integer - an_integer) > 1",
    "CAST(a_text AS DATE) > CURRENT_DATE",
    "a_bigint * 9000000000000000 > 0",
    "a_text > 5 AND no_such = 1",
    "a_label = 'no such label'",
    "shout(a_text) = 'x'",
)


def fill(store: Store) -> None:
    """The birds, and the views that fail."""
    postgres = isinstance(store, PostgresStore)
    if postgres:
        store.execute("CREATE TYPE aviary AS (a text, b bigint)")
        store.execute("CREATE DOMAIN plumage AS text CHECK (VALUE LIKE 'cnry%')")
        store.execute(
            "CREATE FUNCTION shout(bird text) RETURNS text LANGUAGE plpgsql STABLE AS "
            "$$BEGIN RAISE EXCEPTION 'caught %', bird USING HINT = bird, DETAIL = bird; END$$"
        )
    else:
        store.execute("CREATE MACRO shout(bird) AS error('caught ' || bird)")
    store.execute(f"CREATE TYPE kinds AS ENUM ({LABELS})")
    columns = {**SHARED, **(OF_POSTGRES if postgres else OF_DUCKDB)}
    rows = f"generate_series(0, {ROWS - 1})" if postgres else f"range({ROWS})"
    shown = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    store.execute(f"CREATE TABLE birds AS SELECT {shown} FROM {rows} AS r(i)")
    store.execute("CREATE TABLE rings AS SELECT a_text AS ring, a_day AS day FROM birds")
    for name, select in BROKEN.items():
        store.execute(f"CREATE VIEW {name} AS {select}")
    for number in range(len(WHERE)):  # a policy file names a table once
        store.execute(f"CREATE VIEW birds_{number} AS SELECT {FEW} FROM birds")
    store.execute("CREATE VIEW flock AS SELECT a_code, mixed, grp FROM birds")


def broken_files(place: Path) -> list[str]:
    """Data files full of values, whole and broken in every way that a reader would quote a value for; their names."""
    lines = [f"cnry{i},{770_000_000_001 + 7_919 * i},2077-01-{1 + i % 28:02},{i % 4}" for i in range(300)]
    text = "name,number,day,grp\n" + "\n".join(lines) + "\n"
    texts = {
        "birds.csv": text,
        "ragged.csv": text + "cnry,1,2,3,4,cnry\n",
        "quote.csv": text + '"cnry,1,2,3\n',
        "early.csv": "name,number\ncnry1,770001000\ncnry2\n",
        "headless.csv": "cnry1,770001000\ncnry2,770001001\n",
        "birds.jsonl": "".join(f'{{"name": "cnry{i}", "n": 77000{i:04}.50, "l": ["cnry"]}}\n' for i in range(99)),
        "broken.jsonl": '{"name": "cnry1", "n": 770001000}\n{"name": cnry}\n',
        "twice.jsonl": '{"name": "cnry1", "name": "cnry2"}\n',
        "bare.jsonl": '"cnry"\n770001000\n',
        "text.duckdb": text,
    }
    for name, content in texts.items():
        (place / name).write_text(content, encoding="utf-8")
    (place / "latin.csv").write_bytes(text.encode() + b"cnry\xe9,1,2,3\n")
    with duckdb.connect(str(place / "whole.duckdb")) as connection:
        connection.execute(f"CREATE TABLE birds AS FROM read_csv('{place}/birds.csv')")
        connection.execute(f"COPY birds TO '{place}/birds.parquet'")
        connection.execute(f"CREATE VIEW outside AS FROM read_csv('{place}/birds.csv')")
    whole = (place / "whole.duckdb").read_bytes()
    (place / "damaged.duckdb").write_bytes(whole[:9000] + b"cnry" * 9 + whole[9036:])
    (place / "cut.parquet").write_bytes((place / "birds.parquet").read_bytes()[:-40])
    return [*texts, "latin.csv", "birds.parquet", "cut.parquet", "damaged.duckdb"]


def hit(text: str) -> str | None:
    """Where a value or a secret is heard, with some of what stands around it."""
    found = HIDDEN.search(HASH.sub("", text))
    return None if found is None else repr(found.string[max(0, found.start() - 200) :][:300])
