"""Commands whose help is under headings, and what a number on the command line must be."""

from typing import Any

from typer.core import TyperCommand

ARGUMENTS, OPTIONS = "Arguments", "Options"


class HeadedCommand(TyperCommand):
    """A command that lists its options under the headings of their panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        records: dict[str, list[Any]] = {ARGUMENTS: []}
        each: Any
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


def number_expected(parameter: Any) -> str:
    """What an option that takes a number expects; empty for others. It never repeats what was typed."""
    described: Any = getattr(parameter, "type_descriptor", None)
    if (kind := getattr(described, "annotation", None)) not in (int, float):
        return ""
    bounds = described.parameter_info
    expected = "expected a whole number" if kind is int else "expected a number"
    if bounds.min is None:
        return expected
    return f"{expected} from {bounds.min} " + ("on" if bounds.max is None else f"to {bounds.max}")
