"""How far the roles that names suggest are right: on the headers of 40 public tables.

python -m tests.benchmarks vocabulary      prints the table of the manual
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from qidsql.column_roles.proposal import TableProposals
from qidsql.core.tables import Catalog, CatalogColumn, CatalogTable, PolicyRole, TableName
from tests.benchmarks.public_headers import SEEN, UNSEEN

ROLES = {
    "D": PolicyRole.DIRECT_IDENTIFIER,
    "Q": PolicyRole.QUASI_IDENTIFIER,
    "S": PolicyRole.SENSITIVE,
    "O": PolicyRole.OTHER,
}
KINDS = ("hit", "to check", "wrong")


def judged(headers: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str, str, PolicyRole, str]]:
    """Of each column: table, name, the roles that are right, the proposed one, and hit, to check or wrong."""
    for table, roles in headers.items():
        truth = {name: letters for letters, names in roles.items() for name in names.split()}
        columns = tuple(CatalogColumn(name, "VARCHAR") for name in truth)
        listed = CatalogTable(TableName(table.partition(" (")[0].replace(" ", "_")), "table", columns)
        for proposal in TableProposals(Catalog((listed,))).of(listed).columns:
            right = proposal.role in [ROLES[letter] for letter in truth[proposal.column]]
            kind = "to check" if proposal.doubt else "hit" if right else "wrong"
            yield table, proposal.column, truth[proposal.column], proposal.role, kind


def counts(headers: Mapping[str, Mapping[str, str]]) -> dict[str, Counter[str]]:
    """By table the number of columns of each kind."""
    found: dict[str, Counter[str]] = {table: Counter() for table in headers}
    for table, _, _, _, kind in judged(headers):
        found[table][kind] += 1
    return found


def table_of_manual() -> str:
    """The table as Markdown: a line for each public table, and the sums of both halves."""
    lines = ["| table | columns | right | to check | wrong |", "|---|---:|---:|---:|---:|"]
    for title, headers in ("the 20 that terms were chosen by", SEEN), ("the 20 others", UNSEEN):
        by_table = counts(headers)
        total = sum(by_table.values(), Counter())
        for table, found in [*sorted(by_table.items()), (f"**{title}**", total)]:
            cells = " | ".join(str(found[kind]) for kind in KINDS)
            lines.append(f"| {table} | {found.total()} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    for each in (*judged(SEEN), *judged(UNSEEN)):
        if each[-1] != "hit":
            print(*each, sep="\t")
