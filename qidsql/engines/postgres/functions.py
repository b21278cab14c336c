"""The single-statement checks as functions for psql and any other client of Postgres."""

from functools import cache

from sqlglot import exp

from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.sql import sql_file
from qidsql.sql.classes import class_sizes
from qidsql.sql.relation import ALIAS, Relation
from qidsql.sql.templates import fill
from qidsql.version import __version__


@cache
def postgres_functions() -> str:
    """The script that creates the functions profile, violations, columns and others, in a schema `qidsql`.

    It contains the catalog query and the class sizes of the templates. The table and columns are known only when a
    function runs: Postgres' `format` inserts them, quoted.
    """
    catalog = fill("postgres/columns", oids=[exp.column("relation", table="compared")])
    relation = Relation(exp.alias_(exp.to_table("hole_1"), ALIAS, table=True))
    sizes = class_sizes(POSTGRES, relation, ("hole_2",)).sql
    sizes = sizes.replace("hole_1", "%1$s").replace(f'{ALIAS}."hole_2"', "%2$s")
    script = sql_file("postgres/shell_functions").replace(":measures", sql_file("postgres/shell_measures").rstrip())
    script = script.replace(":columns_of_table", POSTGRES.render(catalog)).replace(":class_sizes", sizes)
    return script.replace("':version'", f"'{__version__}'")
