"""What a server's plan of reading a table says of its size and types, as Spark and Sail write it."""

import re

UNITS = {"B": 1, **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGTPE", 1)}}
BYTES = re.compile(r"sizeInBytes=([\d.]+(?:E\+?\d+)?) ([KMGTPE]?i?B)\b")  # of Spark
ROWS = re.compile(r"\bRows=\w+\((\d+)\)")  # of Sail, which knows the bytes of numbers only
UNKNOWN = 1 << 62  # of a source without any statistics


FOOTERS_BELIEVED = (
    "the server takes what footers of parquet files say for the values, where they name one value for a column, and "
    "refuses not to: start Sail with SAIL_EXECUTION__COLLECT_STATISTICS=false"
)

FAIL_FAST = "SELECT COUNT_IF(XXHASH64(*) = 0) FROM {} WITH ('mode' = 'FAILFAST')"  # reads every value


def believes_footers(plan: str) -> bool:
    """Whether an EXPLAIN COST has bounds of a column that Sail puts in the place of values: equal ones, without NULLs.
    Of several files it tells only those of all together."""
    one = re.search(r"file_groups=\{1 group: \[\[[^\s,]+\]\]\}", plan)
    bounds = r"Min=Exact\((.+?)\) Max=Exact\(\1\) Null=Exact\(0\)" if one else r"Min=Exact\("
    return "file_type=parquet" in plan and re.search(bounds, plan) is not None


def lenient(plan: str) -> frozenset[str]:
    """The tables in an EXPLAIN EXTENDED of Apache Spark whose files are read with NULL for a value that does not fit
    its column's type, unless the table says otherwise; "" for files that are no table of the catalog."""
    return frozenset(re.findall(r"\bRelation ([\w.]*)\[[^\n]*\] (?:csv|json|xml)$", plan, flags=re.MULTILINE))


def planned_sizes(plan: str) -> frozenset[str]:
    """The sizes in an EXPLAIN COST: of all files together, rounded, on Spark; the rows in their footers on Sail."""
    return frozenset(each[0] for each in re.finditer(f"{BYTES.pattern}|{ROWS.pattern}", plan))


def planned_bytes(plan: str, row: int) -> int | None:
    """The size of the largest relation in an EXPLAIN COST, with rows of so many bytes; None if it is not known."""
    found = [int(float(number) * UNITS[unit]) for number, unit in BYTES.findall(plan)]
    found += [int(number) * row for number in ROWS.findall(plan)]
    largest = max(found, default=UNKNOWN)
    return largest if largest < UNKNOWN else None


def unsigned(plan: str) -> list[bool]:
    """Of each column in an EXPLAIN EXTENDED of Sail whether it holds unsigned numbers, which it describes as signed."""
    analyzed = re.search(r"^== Analyzed Logical Plan ==\n#\d+: (.*)$", plan, re.MULTILINE)
    return [] if analyzed is None else ["UInt" in kind for kind in re.split(r", #\d+: ", analyzed[1])]
