"""Where the SQL stands. Apart from `templates`, so that a script can be handed out without sqlglot at hand."""

from pathlib import Path


def sql_file(name: str) -> str:
    """The text of `sql_templates/NAME.sql`: package data of an installed wheel, else beside a checkout's `qidsql/`."""
    packaged = Path(__file__).parents[1] / "sql_templates"
    folder = packaged if packaged.is_dir() else Path(__file__).parents[2] / "sql_templates"
    return (folder / f"{name}.sql").read_text(encoding="utf-8")
