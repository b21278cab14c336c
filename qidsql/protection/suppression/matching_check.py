"""An independent check of k disjoint matchings of all people with all rows, computed from the codes."""

import numpy as np
from numpy.typing import NDArray

from qidsql.protection.records import Records
from qidsql.protection.suppression.matchings import MatchedRows


def disjoint_matchings(records: Records, units: MatchedRows, lost: NDArray[np.bool_], k: int) -> bool:
    """Whether the rows that lose these cells fit the people of k matchings without a common pair, owners first.

    A record's rows may fit the people of a record as often as there are such people; in each matching every record's
    people have as many rows as they are. Then equal people can share them out so that no row fits one of them twice:
    the pairs are a k-regular graph, of which each pair is in a perfect matching, so that k rows can be anyone's.
    """
    everyone = np.concatenate((units.record[:, None], units.fitted), axis=1)
    if everyone.shape[1] != k or int(units.sizes.min(initial=1)) < 1:
        return False
    for people in everyone.T:
        if (np.bincount(people, units.sizes, records.count) != records.sizes).any():
            return False
        for place, codes in enumerate(records.codes):
            mine = codes[units.record]
            if (~lost[:, place] & (mine != 0) & (mine != codes[people])).any():
                return False
    ordered = np.sort(everyone, axis=1)
    run = np.ones(len(ordered), dtype=np.int64)  # how often the record of a place has come so far
    within = np.ones(len(ordered), dtype=bool)
    for place in range(1, k):
        run = np.where(ordered[:, place] == ordered[:, place - 1], run + 1, 1)
        within &= run <= records.sizes[ordered[:, place]]
    return bool(within.all())
