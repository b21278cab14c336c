"""Mutants that no test can notice, each with the reason: by module, function and change."""

NO_ROWS = "a table without rows has none at risk, so that the share is 0 whatever the divisor"
NO_CLASS = "None stands for 0 on both sides, and no class is smaller"
OF_A_SOURCE = "each gap is of one of the sources"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("qidsql/findings/changes.py", "_k", "told.get('k') or 0 -> told.get('k') or -1"): NO_CLASS,
    **{
        (
            "qidsql/findings/changes.py",
            "_share",
            f"told.get('rows', told.get('entities')) or 0 -> told.get('rows', told.get('entities')) or {number}",
        ): NO_ROWS
        for number in (-1, 1)
    },
    **{
        (
            "qidsql/findings/coverage.py",
            "Coverage.with_gaps",
            f"places.get(gap.source, 0) -> places.get(gap.source, {number})",
        ): OF_A_SOURCE
        for number in (-1, 1)
    },
}
