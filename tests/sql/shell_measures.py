"""Writes the statements of other templates into macros for DuckDB and functions for Postgres.

python -m tests.sql.shell_measures
"""

from pathlib import Path

from sqlglot import exp

from qidsql.duckdb_extension.functions import FUNCTIONS, HELP, OWN, comments, help_definition
from qidsql.duckdb_extension.protected import carried_out
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.duckdb.own_functions import by_whole_names
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.sql.relation import ALIAS
from qidsql.sql.templates import Filling, fill_query

FRAME = Path(__file__).with_suffix(".sql")
FRAME_OF_POSTGRES = FRAME.with_stem("shell_measures_postgres")
WRITTEN = Path(__file__).parents[2] / "sql_templates" / "duckdb" / "shell_measures.sql"
REFUSALS = WRITTEN.parents[1] / "duckdb_extension" / "shell_without_python.sql"
OF_POSTGRES = WRITTEN.parents[1] / "postgres" / "shell_measures.sql"
HOLES = ("relation", "columns", "aliased", "names", "sensitive", "entity")  # the places of Postgres' format
RENAMED = {"entity": "member"}  # a column that is called like a parameter of a macro
BILLION = 1_000_000_000


def text() -> str:
    """The script."""
    script = FRAME.read_text(encoding="utf-8")
    for name, query in queries().items():
        script = script.replace(f":{name}\n", f"{DUCKDB.render(by_whole_names(query))}\n")
    return script


def queries() -> dict[str, exp.Query]:
    """The statements inside."""
    column, key = exp.column, exp.column("class_key")
    share = exp.cast(exp.func("ROUND", exp.Mul(this=column("t"), expression=exp.Literal.number(BILLION))), "INT128")
    distant = fill_query("disclosure/distant", names=[column("class_number")], numerator=share, denominator=BILLION)
    of_persons = fill_query(
        "disclosure/of_persons",
        relation=exp.to_table("audited"),
        columns=[key],
        aliased=[exp.alias_(key, "c0")],
        names=[column("c0")],
        sensitive=column("cell"),
        entity=column("person"),
    )
    for each in of_persons.find_all(exp.Identifier):
        each.set("this", RENAMED.get(each.name, each.name))
    return {"of_persons": of_persons, "distant": distant.subquery("judged")}


def text_of_postgres() -> str:
    """The functions for Postgres."""
    script = FRAME_OF_POSTGRES.read_text(encoding="utf-8")
    for name, query in queries_of_postgres().items():
        statement = POSTGRES.render(query)
        for place, hole in enumerate(HOLES, start=1):
            statement = statement.replace(f"hole_{hole}", f"%{place}$s")
        script = script.replace(f":{name}", statement)
    return script.replace(":matched_classes", _matched_classes())


def _matched_classes() -> str:
    """The classes of two tables side by side, with places of their own."""
    places = ("published", "counted", "population", "here", "there", "here_named", "there_named", "names", "incomplete")
    hole = {name: exp.Var(this=f"%{place}$s") for place, name in enumerate(places, start=1)}
    sides = {name: exp.alias_(exp.to_table(f"hole_{name}"), ALIAS, table=True) for name in ("published", "population")}
    query = fill_query(
        "population/matched_classes",
        **sides,
        published_columns=[hole["here"]],
        population_columns=[hole["there"]],
        published_aliased=[hole["here_named"]],
        population_aliased=[hole["there_named"]],
        names=[hole["names"]],
        people=exp.Anonymous(this="COUNT", expressions=[hole["counted"]]),
        uncounted=exp.Literal.number(0),
        incomplete=hole["incomplete"],
    )
    statement = POSTGRES.render(query)
    for place, name in enumerate(places, start=1):
        statement = statement.replace(f"hole_{name}", f"%{place}$s")
    return statement


def queries_of_postgres() -> dict[str, exp.Query]:
    """The statements inside. Limits are parameters of EXECUTE."""
    holes: dict[str, Filling] = {name: exp.Var(this=f"hole_{name}") for name in HOLES}
    holes["relation"] = exp.alias_(exp.to_table("hole_relation"), ALIAS, table=True)
    holes |= {name: [exp.Var(this=f"hole_{name}")] for name in ("columns", "aliased", "names")}
    limit, names = exp.Var(this="$1"), {"names": holes["names"]}
    by_person = {name: each for name, each in holes.items() if name != "sensitive"}
    by_cell = {name: each for name, each in holes.items() if name != "entity"}
    distant = fill_query("disclosure/distant", **names, numerator=limit, denominator=1).subquery("judged_")
    return {
        "entity_profile": fill_query("classes/entity_profile", **by_person, set_number=0, k=limit),
        "of_persons": fill_query("disclosure/of_persons", **holes),
        "exceeding": fill_query("disclosure/exceeding", **by_cell, set_number=0, classes=distant),
    }


def refusals() -> str:
    """The script for a shell without Python: each function that needs it tells why there is none."""
    macros = []
    for each in FUNCTIONS:
        given = [*(f'"{name}"' for name in each.tables), *(f"{name} := NULL" for name in each.parameters)]
        macros.append(REFUSED.format(name=each.macro, given=", ".join(given)))
    given = ['"table"', *(f"{name} := NULL" for name in carried_out())]
    macros.append(REFUSED.format(name="protected", given=", ".join(given)))
    why = "'', '', system.main.concat('All others need Python; ', qidsql.main.why_no_python())"
    return f"{ABOVE}\n" + "\n".join(macros) + f"\n{help_definition((), why)};\n\n{comments((*OWN, HELP))};\n"


ABOVE = """\
-- The functions that need Python, where none can be started: each is an error that tells why, by a macro of the stub.
-- Written by python -m tests.sql.shell_measures.
"""
REFUSED = """CREATE OR REPLACE MACRO qidsql.main.{name}({given}) AS TABLE
SELECT system.main.error(qidsql.main.why_no_python()) AS problem;
"""


if __name__ == "__main__":
    WRITTEN.write_text(text(), encoding="utf-8")
    OF_POSTGRES.write_text(text_of_postgres(), encoding="utf-8")
    REFUSALS.write_text(refusals(), encoding="utf-8")
