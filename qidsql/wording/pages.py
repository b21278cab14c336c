"""HTML pages from the templates in formats/templates: self-contained, every value escaped."""

from collections.abc import Callable, Mapping
from typing import Any

from qidsql.wording.texts import without_controls


def page(template: str, filters: Mapping[str, Callable[..., str]] | None = None, **values: Any) -> str:
    """The page of a template, in which a name without a value is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("qidsql.formats"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters or {})
    environment.globals.update(values)
    return without_controls(environment.get_template(template).render())
