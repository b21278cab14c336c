"""Whole scripts for shells, as they are handed out and run: definitions that no template can express."""

from functools import cache

from qidsql.sql.folder import sql_file


@cache
def duckdb_macros() -> str:
    """Macros for DuckDB's shells: profile, violations and columns, in a database `qidsql` in memory."""
    return sql_file("duckdb/shell_macros")


@cache
def postgres_functions() -> str:
    """Functions for Postgres: profile, violations and columns, in a schema `qidsql`.

    The catalog query and the class sizes in them are those of the templates. Table and columns are known only when
    they run: they are put in as text there, quoted by Postgres' own `format`.
    """
    from sqlglot import exp  # not at start-up: a shell that loads the macros must not wait for it

    from qidsql.sql.dialects import POSTGRES
    from qidsql.sql.templates import fill

    catalog = fill("postgres/columns", oids=[exp.column("relation", table="compared")])
    table = exp.alias_(exp.to_table("hole_1"), "relation", table=True)
    classes = fill("classes/classes", set_number=0, relation=table, columns=[exp.column("hole_2")])
    assert isinstance(classes, exp.Query)
    sizes = POSTGRES.render(fill("classes/class_sizes", classes=classes.subquery("classes")))
    sizes = sizes.replace("hole_1", "%1$s").replace("hole_2", "%2$s")
    text = sql_file("postgres/shell_functions").replace("{postgres/columns}", POSTGRES.render(catalog))
    return text.replace("{class_sizes}", sizes)
