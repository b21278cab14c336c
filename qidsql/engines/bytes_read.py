"""How many bytes a statement reads: of each table that it names the columns that it names, as often as it names it.

As far as the sizes of columns are known, that is an upper bound: an engine can skip parts of a table, or have them in
memory. It is derived from the statement's text, in which all names of tables and columns are quoted.
"""

import re
from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass, field

from qidsql.core.tables import TableName
from qidsql.sql.relation import ALIAS

QUOTED = r'"(?:[^"]|"")*"|`(?:[^`]|``)*`'
TABLE = re.compile(rf"\b(?:FROM|JOIN)\s+((?:{QUOTED})(?:\.(?:{QUOTED}))*)")
OF_RELATION = re.compile(rf"\b{ALIAS}\.({QUOTED})")
NAME = re.compile(QUOTED)


@dataclass(frozen=True, slots=True)
class TableBytes:
    """What a scan of a table reads: `whole` in any case, and of `columns` those that the statement names; an estimate
    unless `exact`."""

    whole: int = 0
    columns: Mapping[str, int] = field(default_factory=dict)
    exact: bool = False

    def of(self, named: Set[str], words: Set[str]) -> int:
        """Of the columns with these names, and those that a condition of these words can name in any case."""
        if not words:  # as of nearly all statements; a table can have many columns
            return self.whole + sum(self.columns.get(name, 0) for name in named)
        return self.whole + sum(s for name, s in self.columns.items() if name in named or name.lower() in words)


def bytes_read(
    sql: str, scans: int, conditions: Collection[str], table_bytes: Callable[[TableName], TableBytes]
) -> int:
    """What a statement reads that scans its tables so often. `conditions` are texts that it can contain."""
    total = named = 0
    words: set[str] = set()
    for text in conditions:
        if text in sql:
            sql = sql.replace(text, " ")
            words.update(re.findall(r"\w+", text.lower()), map(_plain, NAME.findall(text.lower())))
    for part in sql.split("UNION ALL"):
        tables = [_name(each) for each in TABLE.findall(part)]
        columns = {_plain(each) for each in OF_RELATION.findall(part) or NAME.findall(TABLE.sub(" ", part))}
        total += sum(table_bytes(each).of(columns, words) for each in tables)
        named += len(tables)
    return total * -(-scans // max(1, named)) if scans > named else total


def _name(dotted: str) -> TableName:
    *above, name = map(_plain, NAME.findall(dotted))
    schema, *catalog = [*above[::-1], ""][:2] if above else [""]
    return TableName(name, schema, *catalog)


def _plain(quoted: str) -> str:
    mark = quoted[0]
    return quoted[1:-1].replace(2 * mark, mark)
