"""The uniques report: the number of combinations, then by size, column, column set and row."""

from qidsql.commands.uniques.command import By, ScoreKind, Scores, UniquesResult
from qidsql.report.blocks import Grid, Head, Outcome, Report, Sentence, bar
from qidsql.report.sections import CODES_LEFT, cost, facts
from qidsql.wording.texts import count, percent, plural, share

ALGORITHMS = {
    "pairs": "pairs: every record compared with every other, all column sets at once",
    "sets": "sets: column set by column set, small ones first",
    "none": "none",
}
BAR = 24


def report(result: UniquesResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    rows = facts(result.account)
    shared = "that one row has alone" if result.k == 2 else f"that fewer than {result.k} rows share"
    rows.add("Unsafe", f"a combination of values {shared}; minimal: without any one of them it is safe")
    rows.add("Algorithm", ALGORITHMS[result.algorithm], expert=True)
    for line in _not_looked_at(result):
        rows.add("Not searched", line)
    if result.into is not None:
        rows.add("List", f"{plural(result.listed or 0, 'line')} in {result.into}")
    yield rows
    if result.combinations:
        for by, table in ((By.SIZE, _sizes), (By.COLUMN, _columns), (By.SET, _sets), (By.RECORD, _records)):
            if by in result.shown:
                yield table(result)
        if result.scores is not None:
            yield from _scores(result.scores, result.key)
    read = [f"the keys ({result.key})"] if result.key else []
    read += ["the values in the list"] if result.values_listed else []
    values = f"{' and '.join(read)} left the engine, as requested" if read else CODES_LEFT
    yield from cost(result.account, written=result.into, values=values)


def _not_looked_at(result: UniquesResult) -> list[str]:
    if result.complete or not result.account.rows:
        return []
    lines = []
    if result.complete_to_size < len(result.account.columns) and result.algorithm == "sets":
        lines.append(f"column sets of more than {plural(result.complete_to_size, 'column')}, in any row")
    if result.algorithm == "pairs":
        if result.rows_looked_at < result.account.rows:
            lines.append(f"{plural(result.account.rows - result.rows_looked_at, 'row')}, on any column set")
        if result.account.policy.max_size is not None:
            lines.append(f"column sets of more than {plural(result.account.policy.max_size, 'column')}")
    return lines


def _heads(first: str, *others: str) -> list[Head]:
    return [Head(first, text=True), *map(Head, others)]


def _sizes(result: UniquesResult) -> Grid:
    most = max(result.by_size.values())
    heads = [*_heads("By size", "combinations"), Head("", text=True)]
    return Grid(
        heads,
        [(plural(size, "column"), count(number), bar(number, most, BAR)) for size, number in result.by_size.items()],
    )


def _columns(result: UniquesResult) -> Grid:
    scored = result.scores is not None
    rows = []
    for column in sorted(result.by_column, key=lambda each: -each.combinations):
        row = [column.name, count(column.combinations), share(column.combinations, result.combinations)]
        rows.append([*row, *([percent(column.contribution)] if scored else [])])
    return Grid(_heads("By column", "combinations", "of all", *(["of all scores"] if scored else [])), rows)


def _sets(result: UniquesResult) -> Grid:
    heads = _heads(f"By column set ({count(result.column_sets_in_all)} in all)", "combinations")
    return Grid(
        heads, [(" + ".join(each.columns) or "no column", count(each.combinations)) for each in result.column_sets]
    )


def _records(result: UniquesResult) -> Grid:
    rows = result.account.rows or 0
    lines = [
        (plural(size, "column"), count(number), share(number, rows)) for size, number in result.by_smallest.items()
    ]
    if result.complete or result.rows_looked_at == rows:
        safe = rows - result.rows_unsafe
        lines.append(("none" if result.complete else "none found", count(safe), share(safe, rows)))
    return Grid(_heads("Rows by their smallest combination", "rows", "of all"), lines)


def _scores(scores: Scores, key: str | None) -> Report:
    name = scores.kind.upper()
    ranges = [(_range(each.above, each.up_to), count(each.rows)) for each in scores.distribution if each.rows]
    yield Grid(_heads(f"Rows by {name} score", "rows"), ranges)
    if scores.kind is ScoreKind.DIS and scores.sampling_fraction is not None:
        estimates = f"DIS scores are estimates for a sampling fraction of {percent(scores.sampling_fraction)}."
        yield Sentence(estimates, close=True)
    if not scores.top:
        return
    top = []
    for each in scores.top:
        score = count(each.score) if isinstance(each.score, int) else f"{each.score:.6f}"
        called = f"record {count(each.record)}" if key is None else f"{key} {each.key or 'NULL'}"
        top.append((called, score, count(each.combinations), str(each.smallest)))
    yield Grid(_heads(f"Highest {name} scores", "score", "combinations", "smallest"), top)
    if key is None:
        yield Sentence(
            "A record is a distinct row; its number tells neither its place in the table nor anything of its values. "
            "--key COLUMN names the rows, --into FILE lists all that have a score.",
            close=True,
        )


def _range(low: float | None, high: float | None) -> str:
    up_to = "" if high is None else f"{high:,}" if low is None else f" to {high:,}"
    return up_to if low is None else f"above {low:,}{up_to}"


def opening(result: UniquesResult) -> str:
    """What was found, in words for people who sign."""
    rows = result.account.rows or 0
    if not result.rows_unsafe:
        whole = "" if result.complete else " among those that were searched"
        return f"No row has a combination of values that fewer than {result.k} rows share{whole}."
    most = max(result.by_column, key=lambda each: each.combinations, default=None)
    advice = f" Make the values of {most.name} coarser first: it is in most of them." if most else ""
    return (
        f"{plural(result.rows_unsafe, 'row')} of {count(rows)} can be told apart by a combination of values that fewer "
        f"than {result.k} rows share.{advice}"
    )
