"""Findings for people: thousands of column sets by the few columns that cause them."""

from collections import Counter
from collections.abc import Iterator, Sequence

from qidsql.operations.table_run import CAUSES, Finding, FindingKind
from qidsql.wording.texts import count, plural

GROUPS = 4  # columns named at most for each kind of findings
LEAST = 3  # column sets of a group; fewer are told as they are


def told(findings: Sequence[Finding], most: int) -> list[str]:
    """The texts of the findings; of more than `most`, those that only say why the table fails are told by their causes.

    Single columns come first; then each group is about the column that occurs in most sets of its kind and state that
    are in no group yet. At last the number of all findings.
    """
    if len(findings) <= most:
        return [finding.text for finding in findings]
    left = [finding for finding in findings if finding.kind in CAUSES]
    others = [each for each in findings if each.kind not in CAUSES and each.kind is not FindingKind.K_ANONYMITY]
    texts = [finding.text for finding in others[:most]]
    texts += [f"... and {count(len(others) - most)} more"] if len(others) > most else []
    for kind, state in dict.fromkeys((each.kind, each.state) for each in left):
        texts += _groups([each for each in left if (each.kind, each.state) == (kind, state)])
    return [*texts, f"{plural(len(findings), 'finding')} in all; --format json lists them"]


def _groups(findings: Sequence[Finding]) -> Iterator[str]:
    """The sets of one kind and state, by the columns that most of them have."""
    yield from (finding.text for finding in findings if len(finding.columns) == 1)
    left = [finding for finding in findings if len(finding.columns) > 1]
    for _ in range(GROUPS):
        counted = Counter(column for finding in left for column in finding.columns)
        column, number = max(counted.items(), key=lambda each: (each[1], each[0]), default=("", 0))
        if number < LEAST:
            break
        yield _group(column, [finding for finding in left if column in finding.columns])
        left = [finding for finding in left if column not in finding.columns]
    yield from (finding.text for finding in left[: LEAST - 1])
    if len(left) >= LEAST:
        yield f"... and {plural(len(left) - LEAST + 1, 'other column set')} {_words(left[0])}"


def _group(column: str, findings: Sequence[Finding]) -> str:
    others = {name for finding in findings for name in finding.columns} - {column}
    beside = "any" if all(len(finding.columns) == 2 for finding in findings) else "some"
    sets = f"{plural(len(findings), 'column set')} {_words(findings[0])}"
    return f"{column} with {beside} of {plural(len(others), 'column')}: {sets}"


def _words(finding: Finding) -> str:
    return "that identify every row" if finding.kind is FindingKind.KEY else "below k"
