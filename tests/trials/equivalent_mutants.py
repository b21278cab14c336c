"""Mutants that no test can notice, each with the reason: by module, function and change."""

COUNT = "sqlglot writes COUNT_BIG for it on engines that have that, and DuckDB and Postgres have not"
ANY_START = "only whether a time ever comes is looked at, and a time that comes after one day comes after another"
NO_TIME = "no time lies between a moment and itself"
A_CHOICE = "how often the clock is looked at: a choice, which tests take from the module"
A_FIRST_LOOK = "how much of two codes is compared to find pairs at all; every pair found is compared as a whole"
NOT_READ = "of a statement about one column set the number of the set is not read"
EFFORT = "how many claims of a search are measured again: a choice, which changes no answer that is right"
NEVER_EMPTY = "sets are drawn where some set fails, and one that lies in none of those has a column"
SAME_LENGTH = "both lists are made of one list, so that their lengths are the same"
ANY_SEED = "another seed divides the classes as well"
OF_A_SOURCE = "each gap is of one of the sources"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("qidsql/sql/classes.py", "_count", "True -> False"): COUNT,
    ("qidsql/sql/classes.py", "_counting", "True -> False"): COUNT,
    ("qidsql/sql/classes.py", "distinct_hashes", "True -> False"): COUNT,
    ("qidsql/sql/matching_rows.py", "_head", "_number(0) -> _number(1)"): A_FIRST_LOOK,
    **{
        (
            "qidsql/sql/classes.py",
            "class_sizes_in_part",
            f"_place(dialect, source, columns, 0) -> _place(dialect, source, columns, {number})",
        ): ANY_SEED
        for number in (1, -1)
    },
    ("qidsql/operations/schedule.py", "", "10.0 -> 9.0"): A_CHOICE,
    ("qidsql/commands/gate.py", "_measure", "min(shown, MEASURED) -> max(shown, MEASURED)"): EFFORT,
    **{
        ("qidsql/commands/gate.py", "_Failing.drawn", f"1 << order[0] -> {other}"): NEVER_EMPTY
        for other in ("1 >> order[0]", "2 << order[0]", "0 << order[0]")
    },
    ("qidsql/measures/profiles.py", "size_bins", "True -> False"): SAME_LENGTH,
    ("qidsql/sql/classes.py", "_members", "True -> False"): SAME_LENGTH,
    (
        "qidsql/operations/schedule.py",
        "repeat",
        "last < start -> last <= start",
    ): "no time lies between a moment and itself",
    (
        "qidsql/operations/policy_file.py",
        "_Reader.entry",
        r"for word in re.findall('\\w+', str(error)) if word in SETTINGS -> for word in re.findall('\\w+', str(error))",
    ): "no message about a policy names another key of a table",
    ("qidsql/sql/matching_rows.py", "matching_sizes", "max(1, domain.rows) -> min(1, domain.rows)"): A_FIRST_LOOK,
    **{
        ("qidsql/sql/classes.py", function, f"0 -> {number}"): NOT_READ
        for function in ("entity_profile", "class_sizes")
        for number in (1, -1)
    },
    **{
        ("qidsql/operations/schedule.py", "Schedule.read", f"datetime(2000, 1, 1) -> datetime({other})"): ANY_START
        for other in ("1999, 1, 1", "2001, 1, 1", "2000, 2, 1", "2000, 1, 2")
    },
    **{
        (
            "qidsql/operations/coverage.py",
            "Coverage.with_gaps",
            f"places.get(gap.source, 0) -> places.get(gap.source, {number})",
        ): OF_A_SOURCE
        for number in (-1, 1)
    },
}
