"""What an earlier audit of a table found, which the next one measures first: most of it still holds.

Its complete lists are certificates (`search/certified.py`). The column sets that it measured are likely to be asked for
again: of a small table one statement measures dozens of them, while a search asks one size after the other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from qidsql.commands.audit.command import AuditResult
from qidsql.core.tables import names_of
from qidsql.measures.criteria import Key
from qidsql.search.certified import largest_without
from qidsql.sql.templates import ColumnNames

EARLIER_SETS = 1_000  # measured first; of more, a search asks only for those that it needs
MOST_OF_KEYS = 64  # sets of a certificate of keys; of more, pairs of rows decide for fewer statements


@dataclass(frozen=True)
class Earlier:
    """The column sets of each search that listed all of them, by its criterion, and the sets to measure first."""

    lists: Mapping[str, list[ColumnNames]] = field(default_factory=dict)
    sets: tuple[ColumnNames, ...] = ()

    @classmethod
    def of(cls, audit: AuditResult) -> "Earlier":
        """What the audit found, of its audited columns. No statement."""
        searches = [search for search in audit.searches if search.complete]
        lists = {each.criterion: [found.columns for found in audit.found_by(each)] for each in searches}
        sets = tuple(dict.fromkeys(filter(None, _sets(audit, lists))))
        return cls(lists, sets if len(sets) <= EARLIER_SETS else ())


def _sets(audit: AuditResult, lists: Mapping[str, list[ColumnNames]]) -> Iterator[ColumnNames]:
    """The sets of each list, the largest that contain none of it, and those without withheld columns."""
    names = tuple(column.name for column in audit.columns if column.audited)
    places = {name: 1 << place for place, name in enumerate(names)}
    for criterion, found in lists.items():
        largest = largest_without([sum(places[name] for name in each) for each in found], len(names)) if found else []
        if criterion != Key().name or len(found) + len(largest) <= MOST_OF_KEYS:
            yield from found
            yield from (names_of(mask, names) for mask in largest)
    keys = [set(found) for found in lists.get(Key().name, [])]
    for gone in ((), *(each.columns for each in audit.withheld[:-1])) if audit.withheld else ():
        left = [name for name in names if name not in gone]
        rests = (tuple(name for name in left if name != other) for other in left)
        yield from (rest for rest in rests if not any(key <= set(rest) for key in keys))  # else it is as the key
