"""The proposed roles as `meta` of a dbt project's schema.yml, which `--dbt` reads again."""

from collections.abc import Callable
from typing import Any

from qidsql.column_roles.proposal import TableProposal
from qidsql.commands.init.command import InitRequest, InitResult

KEY = "privacy"  # of meta; its value is the role, as `column_roles.labels` reads it


def render(result: InitResult) -> str:
    """A model for each table, with its columns. Roles in doubt are left out: as labels nobody would check them."""
    import yaml

    models = [_model(table) for table in result.tables]
    return yaml.safe_dump({"version": 2, "models": models}, sort_keys=False, allow_unicode=True)


def _model(table: TableProposal) -> dict[str, Any]:
    doubtful = {each.column for each in table.doubtful}
    columns = [
        {"name": each.column, **({} if each.column in doubtful else {"config": {"meta": {KEY: str(each.role)}}})}
        for each in table.columns
    ]
    return {"name": table.table.name, "columns": columns}


FORMATS: dict[str, Callable[[InitResult], str]] = {"dbt": render}


def renderer(request: InitRequest, format: str) -> Callable[[InitResult], str]:
    """The function that draws the result."""
    return FORMATS[format]
