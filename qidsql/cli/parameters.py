"""Commands whose parameters are converted only where that changes something, and whose help is under headings.

typer converts every value by pydantic, also the absence of one. To import pydantic takes twice as long as typer itself.
"""

from collections.abc import Callable
from functools import partial
from math import inf, isfinite, nan
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand

ARGUMENTS, OPTIONS = "Arguments", "Options"


class LazyConversion:
    """For a command or a group of commands of typer."""

    def get_params(self, context: Any) -> Any:
        every = super().get_params(context)  # type: ignore[misc]
        for each in every:
            if "process_value" not in vars(each):
                each.process_value = partial(_processed, each, each.process_value)
        return every


class LazyCommand(LazyConversion, TyperCommand):
    """A command that lists its options under the headings of their panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        records: dict[str, list[Any]] = {ARGUMENTS: []}
        for each in self.get_params(ctx):
            if (record := each.get_help_record(ctx)) is not None:
                panel = ARGUMENTS if _is_argument(each) else each.rich_help_panel or OPTIONS
                records.setdefault(panel, []).append(record)
        records[OPTIONS] = records.pop(OPTIONS, [])  # the common ones, such as --help, come last
        for panel, listed in records.items():
            if listed:
                with formatter.section(panel):
                    formatter.write_dl(listed)


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _processed(parameter: Any, process: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """The value of a parameter, as `process` returns it. A default, a text, a list of texts and a flag are their own
    values."""
    source, several = context.get_parameter_source(parameter.name), parameter.nargs != 1 or parameter.multiple
    is_default = source is not None and source.name == "DEFAULT"
    if (is_default and not parameter.required) or (value and _is_text(parameter)):
        value = (list(value) if value else ()) if several else value
    elif _kind(parameter) in (int, float) and isinstance(value, str):
        value = _number(parameter, value)
    elif not isinstance(value, bool):
        return process(context, value)
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


def _is_text(parameter: Any) -> bool:
    return _kind(parameter) in (str, list[str])


def _number(parameter: Any, text: str) -> int | float:
    """The number within the bounds of the option. Raises BadParameter without the text, which may be a secret."""
    kind, bounds = _kind(parameter), parameter.type_descriptor.parameter_info
    expected = "a whole number" if kind is int else "a number"
    if bounds.min is not None:
        expected += f" from {bounds.min} on" if bounds.max is None else f" from {bounds.min} to {bounds.max}"
    try:
        number: int | float = kind(text)
    except ValueError:
        number = nan
    if not isfinite(number) or not (bounds.min or -inf) <= number <= (bounds.max or inf):
        raise BadParameter(f"expected {expected}", param=parameter)
    return number


def _kind(parameter: Any) -> Any:
    return getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
