"""The grammar of the trials of sessions: expressions by what their value depends on, and where a relation can hold one.

`{t}` is the row: a table's name, or a parameter. Those without it depend on no row.
"""

from enum import StrEnum


class On(StrEnum):
    """What a value depends on, besides the rows."""

    DATA = "data"
    TIME = "time"
    ZONE = "zone"
    SESSION = "session"
    CHANCE = "chance"
    STYLE = "style"  # how the session writes values as text


SHARED = {
    On.DATA: (
        "{t}.age + 1", "upper({t}.name)", "lower('current_user')", "{t}.name || ' now()'", "length({t}.name)",
        "CASE WHEN {t}.age > 20 THEN 'random()' ELSE 'user' END", "{t}.age /* current_user */ % 7", "abs({t}.age)",
        "coalesce({t}.name, 'pg_stat_activity')", "nullif({t}.age, 21)", "replace({t}.name, 'a', 'session_user')",
        "round({t}.age / 10.0)", "trim({t}.name)",
    ),
    On.TIME: ("current_date", "current_timestamp", "CAST(current_date AS VARCHAR(20))"),
}  # fmt: skip

OF = {
    "duckdb": {
        On.DATA: (
            *SHARED[On.DATA], "year({t}.born)", "strftime({t}.seen, '%Y')", "date_trunc('month', {t}.born)",
            "{t}.seen::DATE", "{t}.born + 1", "epoch({t}.seen)", "{t}.seen_there", "{t}.seen_there = {t}.seen_there",
            "{t}.seen_there AT TIME ZONE 'UTC'", "age({t}.seen, TIMESTAMP '2000-01-01')", "md5({t}.name)",
            "list_transform([{t}.age], lambda x: x + 1)", "regexp_replace({t}.name, 'a', 'now')", "'2020-01-01'::DATE",
            "{{'random': {t}.age}}.random", "hash({t}.age)", "typeof({t}.age)",
        ),
        On.TIME: (
            *SHARED[On.TIME], "now()", "today()", "get_current_timestamp()", "current_localtimestamp()",
            "localtimestamp", "age({t}.seen)", "date_diff('year', {t}.born, current_date)",
            "{t}.seen < ago(INTERVAL 1 YEAR)",
        ),
        On.ZONE: (
            "{t}.seen_there::DATE", "CAST({t}.seen_there AS VARCHAR)", "date_trunc('day', {t}.seen_there)",
            "year({t}.seen_there)", "hour({t}.seen_there)", "{t}.seen_there > '2020-01-01'", "{t}.seen::TIMESTAMPTZ",
            "strftime({t}.seen_there, '%H')", "extract('day' FROM {t}.seen_there)", "{t}.seen_there + INTERVAL 1 DAY",
            "{t}.seen < {t}.seen_there", "{t}.seen_there::TIME", "[{t}.seen_there]::VARCHAR",
            "make_timestamptz(2020, 1, 1, 0, 0, 0)", "{t}.born < {t}.seen_there",
        ),
        On.SESSION: (
            "current_user", "session_user", "current_role", "current_schema", "current_catalog",
            "current_schemas(true)", "current_schema()", "current_database()", "current_setting('threads')",
            "current_setting('TimeZone')",
            "getvariable('who')", "current_query()", "current_connection_id()", "txid_current()",
            "(SELECT max(value) FROM duckdb_settings() WHERE name = 'threads')",
            "(SELECT count(*) FROM duckdb_tables())",
            "(SELECT max(name) FROM pg_settings)", "(SELECT count(*) FROM information_schema.tables)",
            "(SELECT count(*) FROM pg_catalog.pg_class)", "(SELECT count(*) FROM pragma_database_size())",
            "(SELECT count(*) FROM duckdb_variables())", "(SELECT count(*) FROM sqlite_master)",
            "(SELECT max(x) FROM query('SELECT current_user AS x'))", "in_search_path('memory', 'main')",
            "(SELECT count(*) FROM (SHOW TABLES))", "(SELECT count(*) FROM (SHOW ALL TABLES))",
            "(SELECT count(*) FROM duckdb_secrets())",
        ),
        On.CHANCE: (
            "random()", "uuid()", "gen_random_uuid()", "{t}.age + random()", "nextval('numbers')", "uuidv7()",
            '"random"()', "main.random()", "system.main.random()", "(1).random()" , "RANDOM ()",
        ),
    },
    "postgres": {
        On.DATA: (
            *SHARED[On.DATA], "extract(year FROM {t}.born)", "to_char({t}.seen, 'YYYY')", "{t}.seen::date",
            "date_trunc('month', {t}.seen)", "{t}.born + 1", "{t}.seen_there", "{t}.seen_there = {t}.seen_there",
            "{t}.seen_there AT TIME ZONE 'UTC'", "age({t}.seen, TIMESTAMP '2000-01-01')", "md5({t}.name)",
            "concat({t}.name, '-', {t}.age)", "format('%s', {t}.name)",
            "to_jsonb({t}.age)", "array_to_string(ARRAY[{t}.age], ',')", "to_tsvector('english', {t}.name)::text",
            "jsonb_build_object('current_user', {t}.age)", "{t}.age::text", "{t}.name::varchar(3)", "{t}.born::text",
            "greatest({t}.age, 3)", "to_date('2020-01-01', 'YYYY-MM-DD')",
        ),
        On.TIME: (
            *SHARED[On.TIME], "now()", "transaction_timestamp()", "localtimestamp", "localtime", "current_time",
            "age({t}.seen)", "pg_catalog.now()", "extract(year FROM age({t}.born))",
        ),
        On.ZONE: (
            "{t}.seen_there::date", "{t}.seen_there::text", "date_trunc('day', {t}.seen_there)",
            "extract(hour FROM {t}.seen_there)", "to_char({t}.seen_there, 'HH24')", "{t}.seen::timestamptz",
            "{t}.seen < {t}.seen_there", "{t}.seen_there + INTERVAL '1 day'", "{t}.seen_there::time",
            "to_jsonb({t}.seen_there)", "concat({t}.seen_there, '')", "make_timestamptz(2020, 1, 1, 0, 0, 0)",
            "{t}.born < {t}.seen_there", "timezone('UTC', {t}.seen_there)::timestamptz", "ARRAY[{t}.seen_there]::text",
        ),
        On.SESSION: (
            "current_user", "user", "session_user", "current_role", "current_schema", "current_schemas(true)::text",
            "current_setting('application_name')", "current_setting('TimeZone', true)", "pg_backend_pid()",
            "inet_client_addr()", "has_table_privilege('pg_class', 'select')", "version()", "pg_is_in_recovery()",
            "(SELECT count(*) FROM pg_stat_activity)", "(SELECT max(setting) FROM pg_settings)",
            "(SELECT count(*) FROM information_schema.tables)", "to_regclass('people')::text", "txid_current()",
            "pg_get_userbyid(10)", "query_to_xml('SELECT 1', true, true, '')::text", "current_query()",
            "pg_client_encoding()", "row_security_active('pg_class')", "obj_description(1, 'pg_class')",
            "CAST(CAST({t}.age AS oid) AS regrole)::text", "(SELECT count(*) FROM pg_locks)", "pg_my_temp_schema()",
        ),
        On.CHANCE: (
            "random()", "gen_random_uuid()", "clock_timestamp()", "statement_timestamp()", "timeofday()",
            "{t}.age + random()", "nextval('{schema}.numbers')",
            "{schema}.pg_sleep_of({t}.age)", "pg_catalog.random()", "setseed(0.5)",
        ),
        On.STYLE: (
            "{t}.born::text", "substr({t}.born::text, 1, 4)", "format('%s', {t}.born)", "concat({t}.seen, '')",
            "to_json({t}.born)::text", "to_jsonb(ARRAY[{t}.born])", "ARRAY[{t}.born]::text", "{t}.seen::varchar(4)",
            "array_to_string(ARRAY[{t}.seen], ',')", "({t}.age * interval '1 day 1 hour')::text", "'x' || {t}.born",
            "({t}.age / 3.0::float8)::text", "left({t}.name::bytea::text, 2)", "ROW({t}.born)::text",
            "left(row_to_json(ROW({t}.seen))::text, 12)", "ARRAY[{t}.born]::text[]", "num_nonnulls({t}.born::text)",
        ),
    },
    "sqlite": {
        On.DATA: (
            *SHARED[On.DATA], "date({t}.born)", "strftime('%Y', {t}.born)", "julianday({t}.born, '+1 day')",
            "date('2020-01-01', '+' || {t}.age || ' days')", "date({t}.born || '-01')",
            "datetime({t}.age, 'unixepoch')",
            "date(substr({t}.born, 1, 10))", "date('2020-02-31')", "time({t}.seen)", "typeof({t}.age)",
        ),
        On.TIME: (
            *SHARED[On.TIME], "date('now')", "date()", "datetime('NOW')", "date('no' || 'w')",
            "julianday(lower('NOW'))",
            "strftime('%Y', {t}.words)", "date({t}.words)", "date(substr({t}.words, 1, 3))", "time(trim(' now '))",
            "strftime('%Y', 'now') - strftime('%Y', {t}.born)", "unixepoch(replace('n_w', '_', 'o'))",
            "date(coalesce({t}.words, 'x'))", "current_time", "date(CASE {t}.age WHEN 21 THEN 'now' END)",
        ),
        On.ZONE: (
            "date({t}.seen, 'localtime')", "strftime('%H', {t}.seen, 'utc')", "date({t}.seen, 'local' || 'time')",
        ),
        On.SESSION: (
            "(SELECT count(*) FROM pragma_database_list)", "(SELECT query_only FROM pragma_query_only)", "changes()",
            "(SELECT count(*) FROM pragma_function_list)", "total_changes()", "last_insert_rowid()",
        ),
        On.CHANCE: ("random()", "hex(randomblob(4))", "{t}.age + random()", "abs(random() % 3)"),
    },
}  # fmt: skip

# Where a view holds an expression; each a query. {x} is the expression on the row of `people`.
QUERIES = (
    "SELECT people.age, {x} AS x FROM people",
    "SELECT people.name FROM people WHERE {x} IS NOT NULL",
    "SELECT people.age, CASE WHEN {x} IS NULL THEN 1 ELSE people.age END AS y FROM people",
    "WITH w AS (SELECT people.age, {x} AS x FROM people) SELECT * FROM w",
    "SELECT q.x, q.x AS random FROM (SELECT {x} AS x FROM people) AS q",
    "SELECT count(*) AS n, people.age FROM people GROUP BY people.age, {x}",
    "SELECT people.age FROM people WHERE EXISTS (SELECT 1 WHERE {x} IS NOT NULL)",
    "SELECT people.name FROM people UNION ALL SELECT CAST({x} AS VARCHAR(40)) FROM people",
    "SELECT people.age, max(CAST({x} AS VARCHAR(40))) OVER (PARTITION BY people.name) AS m FROM people",
    "SELECT a.age FROM people AS a JOIN people ON a.id = people.id AND {x} IS NOT NULL",
    'SELECT people.age AS "current_user", people.name AS "now", {x} AS "user" FROM people',
)
# The same by something of the database's own; {n} is a number, {x} on the row `{t}`. Each: statements that make it, an
# expression that uses it, whether it has the row.
MACROS = (
    (("CREATE MACRO m{n}(r) AS {x}",), "m{n}(people)", True),
    (("CREATE MACRO m{n}(r) AS {x}", "CREATE MACRO o{n}(r) AS m{n}(r)"), "o{n}(people)", True),
    (('CREATE MACRO "m ""{n}"(r) AS {x}',), '"m ""{n}"(people)', True),
    (("CREATE MACRO m{n}() AS TABLE SELECT {x} AS x",), "(SELECT max(x) FROM m{n}())", False),
)
FUNCTIONS = (
    (
        ("CREATE FUNCTION f{n}(r people) RETURNS text STABLE LANGUAGE sql AS $$ SELECT ({x})::text $$",),
        "f{n}(people)",
        True,
    ),
    (
        ("CREATE FUNCTION f{n}(r people) RETURNS text STABLE LANGUAGE sql BEGIN ATOMIC SELECT ({x})::text; END",),
        "f{n}(people)",
        True,
    ),
    (
        (
            "CREATE FUNCTION f{n}(r people) RETURNS text IMMUTABLE LANGUAGE plpgsql AS "
            "$$ BEGIN RETURN ({x})::text; END $$",
        ),
        "f{n}(people)",
        True,
    ),
    (
        (
            "CREATE FUNCTION f{n}(r people) RETURNS text STABLE LANGUAGE sql AS $$ SELECT ({x})::text $$",
            "CREATE FUNCTION g{n}(r people) RETURNS text STABLE LANGUAGE plpgsql AS "
            "$$ BEGIN RETURN {schema}.f{n}(r); END $$",
        ),
        "g{n}(people)",
        True,
    ),
    (
        (
            "CREATE FUNCTION f{n}(r people) RETURNS text STABLE LANGUAGE sql AS $$ SELECT ({x})::text $$",
            "CREATE OPERATOR @@{o} (RIGHTARG = people, FUNCTION = f{n})",
        ),
        "(@@{o} people)",
        True,
    ),
    (
        (
            "CREATE FUNCTION f{n}(s text, v text) RETURNS text STABLE LANGUAGE sql AS "
            "$$ SELECT coalesce(s, '') || v || ({x})::text $$",
            "CREATE AGGREGATE a{n}(text) (SFUNC = f{n}, STYPE = text)",
        ),
        "(SELECT a{n}(p.name) FROM people AS p)",
        False,
    ),
    (
        (
            "CREATE TYPE t{n} AS (v int)",
            "CREATE FUNCTION f{n}(v t{n}) RETURNS text STABLE LANGUAGE sql AS $$ SELECT v.v::text || ({x})::text $$",
            "CREATE CAST (t{n} AS text) WITH FUNCTION f{n}(t{n})",
        ),
        "CAST(CAST(ROW(people.age) AS t{n}) AS text)",
        False,
    ),
    (
        (
            "CREATE FUNCTION f{n}(v int) RETURNS boolean STABLE LANGUAGE sql AS $$ SELECT ({x})::text IS NOT NULL $$",
            "CREATE DOMAIN d{n} AS int CHECK ({schema}.f{n}(VALUE) IS NOT NULL)",
        ),
        "CAST(people.age AS d{n})",
        False,
    ),
    (
        ("CREATE FUNCTION f{n}(r people) RETURNS SETOF text STABLE LANGUAGE sql AS $$ SELECT ({x})::text $$",),
        "(SELECT max(v) FROM f{n}(people) AS v)",
        True,
    ),
)
