"""Commands whose parameters are converted only where that changes something, and whose help is under headings.

typer converts every value by pydantic, also the absence of one. To import pydantic takes twice as long as typer itself.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

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
    """The value of a parameter, as `process` returns it. A default, a text and a list of texts are their own values."""
    source, several = context.get_parameter_source(parameter.name), parameter.nargs != 1 or parameter.multiple
    is_default = source is not None and source.name == "DEFAULT"
    if (is_default and not parameter.required) or (value and _is_text(parameter)):
        value = (list(value) if value else ()) if several else value
        return value if parameter.callback is None else parameter.callback(context, parameter, value)
    return process(context, value)


def _is_text(parameter: Any) -> bool:
    return getattr(getattr(parameter, "type_descriptor", None), "annotation", None) in (str, list[str])
