"""Audits tables for k-anonymity, keys and quasi-identifiers by SQL that runs inside the database.

>>> import qidsql
>>> with qidsql.connect("warehouse.duckdb") as engine:  # doctest: +SKIP
...     result = qidsql.audit(engine, "patients", k=5, sensitive="diagnosis")
"""

from typing import TYPE_CHECKING

from qidsql.version import __version__

__all__ = [
    "__version__",
    "anonymize",
    "audit",
    "connect",
    "doctor",
    "graph",
    "impact",
    "init",
    "keys",
    "link",
    "mask",
    "profile",
    "suppress",
    "uniques",
]

if TYPE_CHECKING:
    from qidsql.api import (
        anonymize,
        audit,
        connect,
        doctor,
        graph,
        impact,
        init,
        keys,
        link,
        mask,
        profile,
        suppress,
        uniques,
    )


def __getattr__(name: str) -> object:
    """Loads the functions on first use: the command line's --help must not wait for SQL parsers and drivers."""
    if name in __all__:
        from qidsql import api

        return getattr(api, name)
    raise AttributeError(f"module 'qidsql' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
