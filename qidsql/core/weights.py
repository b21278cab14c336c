"""Column weights: as typed, or from a toml file."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from qidsql.core.toml_file import read_toml
from qidsql.declarations.options import Weights
from qidsql.errors import TomlFileError, UsageError


def column_weights(given: Weights) -> dict[str, int]:
    """The weights by column: from age=3,zip=2, or from the table [weights] of a toml file. Raises UsageError."""
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    if isinstance(given, Path) or given.endswith(".toml"):
        return _of_file(Path(given))
    found: dict[str, int] = {}
    for part in given.split(","):
        name, _, number = part.rpartition("=")
        name = name.strip()
        if not name or not number.strip().isdecimal() or int(number) < 1:
            raise UsageError(
                f"--weights takes a positive whole number per column, such as age=3,zip=2, or a .toml file; got {part}"
            )
        if name in found:
            raise UsageError(f"--weights gives column {name} two weights; choose one")
        found[name] = int(number)
    return found


def _of_file(path: Path) -> dict[str, int]:
    file = read_toml(path, "--weights takes age=3,zip=2, or a .toml file with a table [weights]")
    weights = file.content.get("weights")
    if not isinstance(weights, dict):
        raise TomlFileError([file.located((), "no table [weights]; expected one with a line such as age = 3 for each")])
    wrong = [name for name, weight in weights.items() if type(weight) is not int or weight < 1]
    if wrong:
        expected = "expected a positive whole number, such as 3"
        raise TomlFileError([file.located(("weights", name), expected) for name in wrong])
    return weights


class Weighted:
    """A request with an option for the weights."""

    weights: Weights

    @cached_property
    def column_weights(self) -> dict[str, int]:
        """The weights by column; columns that are not in it weigh 1. Raises UsageError."""
        return column_weights(self.weights)
