"""Audits tables for k-anonymity, keys and quasi-identifiers with SQL that runs inside the database.

>>> import qidsql
>>> with qidsql.connect("warehouse.duckdb") as engine:  # doctest: +SKIP
...     result = qidsql.audit(engine, "patients", k=5, sensitive="diagnosis")
"""

from importlib import import_module
from typing import TYPE_CHECKING

from qidsql.version import __version__ as __version__

if TYPE_CHECKING:
    from qidsql.api import *  # noqa: F403 - a type checker knows the functions by their names there


def __getattr__(name: str) -> object:
    """Imports the functions on first use, so that --help does not import SQL parsers and drivers."""
    if name == "__all__":  # for help(qidsql)
        return __dir__()
    if not name.startswith("_") and name in _functions():
        return getattr(import_module("qidsql.api"), name)
    raise AttributeError(f"module 'qidsql' has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["__version__", *_functions()]


def _functions() -> list[str]:
    return list(import_module("qidsql.api").__all__)
