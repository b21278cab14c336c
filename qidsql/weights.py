"""How much each column counts: as people type it, or from a toml file."""

import re
from collections.abc import Mapping
from pathlib import Path

from qidsql.errors import UsageError


def column_weights(given: str | Path | Mapping[str, int] | None) -> dict[str, int]:
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
    import tomllib

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--weights {path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UsageError(f"--weights {path} cannot be read: expected UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:  # its own words could quote what stands in the file
        place = re.search(r"\(at ([^)]*)\)$", str(error))
        raise UsageError(f"{path} is not valid toml{f', at {place[1]}' if place else ''}") from None
    weights = content.get("weights")
    if not isinstance(weights, dict):
        raise UsageError(f"{path} has no table [weights]; expected one with a line such as age = 3 for each column")
    for name, weight in weights.items():
        if type(weight) is not int or weight < 1:
            shown = weight if isinstance(weight, (int, float)) else f"a {type(weight).__name__}"
            raise UsageError(f"{path}: weights.{name} must be a positive whole number, such as 3; got {shown}")
    return weights
