"""sqlglot, imported when first used: that takes longer than a small audit, whose statements are kept as text.

A module that takes it from here begins with `from __future__ import annotations`: annotations would use it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlglot as sqlglot
    from sqlglot import exp as exp
else:

    class _Later:
        """A module at its first use; from then on its names are attributes of this object."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            found = getattr(import_module(self._name), name)
            setattr(self, name, found)
            return found

    sqlglot, exp = _Later("sqlglot"), _Later("sqlglot.expressions")
