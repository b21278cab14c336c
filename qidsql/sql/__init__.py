"""SQL as syntax trees: templates, statements built from them, and the dialects of engines."""

from pathlib import Path


def sql_file(name: str) -> str:
    """The text of `sql_templates/NAME.sql`: package data of an installed wheel, or beside `qidsql/` in a checkout.

    Here, so that the scripts of shells need no import of sqlglot.
    """
    packaged = Path(__file__).parents[1] / "sql_templates"
    folder = packaged if packaged.is_dir() else Path(__file__).parents[2] / "sql_templates"
    return (folder / f"{name}.sql").read_text(encoding="utf-8")


def quoted(text: str) -> str:
    """A text as a literal of SQL, for scripts of shells; statements have `Dialect.literal`."""
    return "'" + text.replace("'", "''") + "'"
