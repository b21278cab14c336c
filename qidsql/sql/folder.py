"""Reads the files of `sql_templates/`. Separate from `templates`, so that scripts need no import of sqlglot."""

from pathlib import Path


def sql_file(name: str) -> str:
    """The text of `sql_templates/NAME.sql`: package data of an installed wheel, or beside `qidsql/` in a checkout."""
    packaged = Path(__file__).parents[1] / "sql_templates"
    folder = packaged if packaged.is_dir() else Path(__file__).parents[2] / "sql_templates"
    return (folder / f"{name}.sql").read_text(encoding="utf-8")
