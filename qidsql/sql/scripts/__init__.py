"""Whole scripts for shells, as they are handed out and run: definitions that no template can express."""

from importlib.resources import files


def script(name: str) -> str:
    """The script of that name, such as "duckdb_macros"."""
    return (files("qidsql.sql.scripts") / f"{name}.sql").read_text(encoding="utf-8")
