"""The order of a sensitive column's values: a list, a file with a line for each, or on purpose that of the letters."""

from pathlib import Path

from qidsql.errors import UsageError
from qidsql.wording.option_names import setting

ALPHABETICAL = "alphabetical"


def read_order(given: str) -> tuple[str, ...] | None:
    """The values in their order; None for alphabetical. Raises UsageError, which names places and no values."""
    if given == ALPHABETICAL:
        return None
    option = f"{setting('order')} {Path(given).name}" if is_file(given) else setting("order")
    values = _lines(given, option) if is_file(given) else [each.strip() for each in given.split(",")]
    for place, value in enumerate(values):
        if value in values[:place]:
            raise UsageError(f"{option}: value {place + 1} stands there before; each has one place")
    if len(values) < 2:
        raise UsageError(f"{option}: expected at least two values, the lowest first")
    return tuple(values)


def is_file(given: str | None) -> bool:
    """Whether an order is in a file."""
    return given is not None and given != ALPHABETICAL and "," not in given


def _lines(path: str, option: str) -> list[str]:
    try:
        return [line for line in Path(path).read_text(encoding="utf-8-sig").splitlines() if line]
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{option} cannot be read ({type(error).__name__}); expected values with commas between them, a file with "
            f"a line for each, or {ALPHABETICAL}"
        ) from None
