"""A criterion as options of a request, for tests that are parametrized by criteria."""

from typing import Any

from qidsql.measures.criteria import Criterion, Distinct, RowsBelowK, Separation, Violates


def options_of(criterion: Criterion) -> dict[str, Any]:
    """The options that ask for it; none for a key."""
    match criterion:
        case RowsBelowK(k, share):
            return {"k": k, "rows_below_k": share}
        case Distinct(beta):
            return {"distinct": beta}
        case Separation(beta):
            return {"separation": beta}
        case Violates(k):
            return {"violates": k}
    return {}
