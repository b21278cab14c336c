"""Whether the packages that qidsql needs are installed in supported versions."""

import platform
import re
from importlib import metadata

from qidsql.core.results import Check, State
from qidsql.version import __version__
from qidsql.wording.texts import plural

SHOWN = ("duckdb", "sqlglot", "psycopg", "highspy")  # the packages that results depend on


def installation() -> list[Check]:
    """One check for all that is in order, and one for each package that is missing or of another version."""
    good = [f"qidsql {__version__}", f"Python {platform.python_version()}"]
    bad = []
    wanted = _wanted()
    if not wanted:
        bad.append(Check(State.NOTE, "qidsql runs from a checkout: its required packages are not known"))
    for package in SHOWN:
        wanted.setdefault(package, "")
    others = 0
    for package, bounds in wanted.items():
        version = _version(package)
        remedy = f"pip install '{package}{bounds}'"
        if version is None:
            bad.append(Check(State.PROBLEM, f"{package} is not installed", remedy))
        elif not _within(version, bounds):
            bad.append(Check(State.WARNING, f"{package} {version}: tested with {bounds}", remedy))
        elif package in SHOWN:
            good.append(f"{package} {version}")
        else:
            others += 1
    if others:
        good.append(f"and {plural(others, 'other package')} that qidsql needs")
    return [Check(State.OK, ", ".join(good)), *bad]


def _wanted() -> dict[str, str]:
    """The packages and versions that this installation of qidsql requires; nothing in a bare checkout."""
    try:
        lines = metadata.requires("qidsql") or []
    except metadata.PackageNotFoundError:
        return {}
    found = [re.match(r"([\w.-]+)(?:\[[^\]]*\])?\s*([^;]*)(.*)", line) for line in lines]
    return {match[1].lower(): match[2].strip() for match in found if match and not match[3]}  # no extras, no platforms


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _within(version: str, bounds: str) -> bool:
    """Whether a version is within bounds such as >=30.30,<31."""
    number = _number(version)
    limits = re.findall(r"(>=|<)\s*([\d.]+)", bounds)
    return all((sign == ">=") == (number >= _number(bound)) for sign, bound in limits)


def _number(version: str) -> tuple[int, ...]:
    """The first three numbers of a version."""
    numbers = [int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))
