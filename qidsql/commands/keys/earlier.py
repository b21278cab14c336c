"""The list of an earlier search, in a file: measured before the next search, which runs where it does not hold."""

from pathlib import Path

from qidsql.commands.keys.command import KeysResult
from qidsql.commands.table_search import TableSearch
from qidsql.core.files import read_json
from qidsql.core.options import Wanted
from qidsql.core.tables import masks_of
from qidsql.declarations.options import FileName
from qidsql.declarations.results import MISMATCH, loaded
from qidsql.errors import UsageError
from qidsql.measures.criteria import Criterion
from qidsql.search.certified import MOST_OF_PAIRS, certified, largest_without
from qidsql.search.hitting_sets import minimal_masks
from qidsql.search.result import SearchResult

EXPECTED = "expected a file that qidsql keys --all wrote with --output NAME.json"
MOST_SETS = 1_000  # of a list; to measure more costs about what a search does


def read_earlier(typed: FileName) -> KeysResult | None:
    """The result in the file; None without one, as before the first of several searches. Raises UsageError."""
    path = None if typed is None else Path(typed)
    if path is None or not path.exists():
        return None
    try:
        found: KeysResult = loaded(KeysResult, read_json(path, EXPECTED))
    except MISMATCH:
        raise UsageError(f"{path} is not as qidsql writes it; {EXPECTED}") from None
    if found.wanted is not Wanted.ALL:
        raise UsageError(f"{path} has no list of all sets; {EXPECTED}")
    return found


def by_earlier(search: TableSearch, criterion: Criterion, earlier: KeysResult, *, pairs: bool) -> SearchResult | None:
    """All minimal sets, where they are about those of the earlier list; None where they are not.

    Nothing of the file is believed but that these sets are worth measuring (`search/certified.py`). `pairs`: the search
    compares pairs of rows. Raises Stopped, StatementError.
    """
    profiler = search.profiler
    listed = (each.columns for each in earlier.column_sets[:MOST_SETS] if each.columns)
    masks = minimal_masks(masks_of(listed, profiler.names))
    if not masks:
        return None
    largest = largest_without(masks, profiler.columns)
    if pairs and len(masks) + len(largest) > MOST_OF_PAIRS:
        return None
    profiler.foresee([search.names(mask) for mask in (*masks, *largest)])
    return certified(profiler, criterion, masks)


def spared(earlier: KeysResult, statements: int) -> int:
    """The statements of the last search from nothing, less those of this one."""
    return max(0, earlier.account.statements + (earlier.spared or 0) - statements)
