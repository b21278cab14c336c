"""The figures of a result of `uniques` from the counted combinations: sums by size, column, set and row, and scores."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qidsql.commands.uniques.request import ScoreKind
from qidsql.commands.uniques.result import ColumnUniques, RecordScore, ScoreBin, Scores, SetUniques
from qidsql.core.tables import names_of
from qidsql.protection.uniques.listing import RecordKeys
from qidsql.protection.uniques.minimal_uniques import UniqueCounts, contributions, dis_scores, suda_scores

DIS_ENDS = tuple(tenth / 10 for tenth in range(8))


def figures_of(names: tuple[str, ...], counts: UniqueCounts, most: int) -> dict[str, Any]:
    """The counts, with at most so many column sets."""
    in_all, top = counts.top_sets(most)
    smallest = counts.by_smallest
    by_column = zip(names, counts.by_column(), contributions(counts), strict=True)
    return {
        "combinations": counts.combinations,
        "by_size": counts.by_size,
        "by_column": tuple(ColumnUniques(name, sum(sizes.values()), share) for name, sizes, share in by_column),
        "column_sets": tuple(SetUniques(names_of(mask, names), number) for mask, number in top),
        "column_sets_in_all": in_all,
        "rows_unsafe": sum(smallest.values()),
        "by_smallest": smallest,
    }


def scores_by_record(kind: ScoreKind, fraction: Fraction, counts: UniqueCounts) -> NDArray[Any]:
    """The score of every record."""
    suda = suda_scores(counts)
    return suda if kind is ScoreKind.SUDA else dis_scores(suda, counts.records, fraction)


def scores_of(kind: ScoreKind, fraction: Fraction, most: int, counts: UniqueCounts, keys: RecordKeys | None) -> Scores:
    """The scores of the records, of which at most so many are listed."""
    suda, scores = suda_scores(counts), scores_by_record(kind, fraction, counts)
    total = sum(int(score) * int(size) for score, size in zip(suda, counts.records.sizes, strict=True))
    order = [int(record) for record in np.argsort(-scores, kind="stable")[:most] if scores[record] > 0]
    called = {} if keys is None else keys.of(order)
    top = [
        RecordScore(
            record=record + 1,
            key=called.get(record),
            score=int(scores[record]) if kind is ScoreKind.SUDA else round(float(scores[record]), 6),
            combinations=int(counts.by_record[record].sum()),
            smallest=int(np.argmax(counts.by_record[record] > 0)),
        )
        for record in order
    ]
    return Scores(
        kind=kind,
        sampling_fraction=fraction if kind is ScoreKind.DIS else None,
        total=total if kind is ScoreKind.SUDA else None,
        distribution=_distribution(kind, scores, counts),
        top=tuple(top),
    )


def _distribution(kind: ScoreKind, scores: NDArray[Any], counts: UniqueCounts) -> tuple[ScoreBin, ...]:
    """Rows by score: 0, then tenths for DIS as in sdcMicro, powers of ten for SUDA."""
    ends: list[int | float | None] = [*DIS_ENDS] if kind is ScoreKind.DIS else [0]
    if kind is ScoreKind.SUDA:
        largest = max((int(score) for score in scores), default=0)
        ends += [10**power for power in range(1, len(str(largest)) + 1)] if largest else []
    else:
        ends.append(None)
    found = []
    for low, high in zip([None, *ends], ends, strict=False):
        inside = scores >= 0 if high is None else scores <= high
        if low is not None:
            inside = inside & (scores > low)
        found.append(ScoreBin(low, high, int(counts.records.sizes[inside.astype(bool)].sum())))
    return tuple(found)
