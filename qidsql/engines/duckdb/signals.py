"""Signals that arrive while DuckDB runs in the main thread."""


def by_signal(error: BaseException) -> bool:
    """Whether a signal's handler raised while DuckDB ran: it then raises an error of its own instead."""
    return isinstance(error, RuntimeError) and "interrupted" in str(error)
