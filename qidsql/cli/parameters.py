"""Commands whose parameters are converted only where that changes something.

typer converts every value by pydantic, also the absence of one. To import pydantic takes twice as long as typer itself.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from typer.core import TyperCommand


class LazyConversion:
    """For a command or a group of commands of typer."""

    def get_params(self, context: Any) -> Any:
        every = super().get_params(context)  # type: ignore[misc]
        for each in every:
            if "process_value" not in vars(each):
                each.process_value = partial(_processed, each, each.process_value)
        return every


class LazyCommand(LazyConversion, TyperCommand):
    pass


def _processed(parameter: Any, process: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """The value of a parameter, as `process` returns it. A default, a text and a list of texts are their own values."""
    source, several = context.get_parameter_source(parameter.name), parameter.nargs != 1 or parameter.multiple
    is_default = source is not None and source.name == "DEFAULT"
    if (is_default and not parameter.required) or (value and _is_text(parameter)):
        value = (list(value) if value else ()) if several else value
        return value if parameter.callback is None else parameter.callback(context, parameter, value)
    return process(context, value)


def _is_text(parameter: Any) -> bool:
    return getattr(getattr(parameter, "type_descriptor", None), "annotation", None) in (str, list[str])
