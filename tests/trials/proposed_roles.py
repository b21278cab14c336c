"""Audits with proposed roles: no pass, and no violation, that rests on a proposal which nobody has confirmed."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import duckdb

import qidsql
from qidsql.commands.audit.command import AuditResult
from qidsql.core.tables import Role
from qidsql.engines.base import Engine
from tests.trials import Ground, Trials

TOGETHER = 25  # tables in one database
NAMES = ("age", "sex", "zip_code", "birth_date", "income", "fnlwgt", "diagnosis", "email", "patient_id", "x1")
OPTION = {Role.DIRECT_IDENTIFIER: "identifiers", Role.SENSITIVE: "sensitive", Role.EXCLUDED: "exclude"}


@dataclass(frozen=True)
class People:
    """A table of whole numbers and NULLs."""

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[int | None, ...]]

    @property
    def sql(self) -> str:
        kinds = ", ".join(f"{column} INTEGER" for column in self.columns)
        values = ", ".join(str(row).replace("None", "NULL").replace(",)", ")") for row in self.rows)
        return f"CREATE TABLE {self.name} ({kinds}); INSERT INTO {self.name} VALUES {values}"

    def smallest(self, columns: tuple[str, ...]) -> int:
        """The smallest class of these columns."""
        places = [self.columns.index(name) for name in columns]
        return min(Counter(tuple(row[place] for place in places) for row in self.rows).values())


def people(name: str, chance: Random) -> People:
    columns = tuple(chance.sample(NAMES, chance.randint(2, 6)))
    most = [chance.choice((1, 2, 2, 3, 200)) for _ in columns]
    missing = chance.choice((0, 0, 0.1))
    rows = [
        tuple(None if chance.random() < missing else chance.randrange(each) for each in most)
        for _ in range(chance.choice((12, 40, 150)))
    ]
    return People(name, columns, rows)


def proposed_roles(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one table, audited with proposed roles, with the same ones accepted, and without."""
    for first in range(0, number, TOGETHER):
        tables = [
            people(f"t{place}", Random(f"{seed} {place}")) for place in range(first, min(first + TOGETHER, number))
        ]
        path = ground.folder / f"roles{first}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("; ".join(each.sql for each in tables))
        with qidsql.connect(str(path)) as engine:
            for table in tables:
                wrong = _wrong(engine, table, k=2 + len(table.rows) % 3)
                yield wrong and f"seed {seed}, {table.name} {table.columns}: {wrong}"
        path.unlink()


def _wrong(engine: Engine, table: People, k: int) -> str | None:
    none, proposed, accepted = (
        qidsql.audit(engine, table.name, k=k, roles=roles, entity="row") for roles in ("none", "proposed", "accepted")
    )
    audited = tuple(each.name for each in proposed.columns if each.audited)
    left_out = tuple(each.name for each in proposed.columns if each.proposed)
    known = [each.recognised for each in proposed.columns]
    whole = table.smallest((*audited, *left_out)) >= k
    expected = "violation" if table.smallest(audited) < k or any(known) else "pass" if whole else "inconclusive"
    if proposed.verdict != expected:
        return f"verdict {proposed.verdict}, not {expected}"
    if (proposed.verdict == "pass") != (none.verdict == "pass"):
        return f"{proposed.verdict} with proposals, {none.verdict} without"
    if proposed.verdict == "violation" != none.verdict:
        return f"a violation with proposals, {none.verdict} without"
    with_them = proposed.profile_with_proposed
    if left_out and (with_them is None or with_them.smallest != table.smallest((*audited, *left_out))):
        return f"the smallest class with the columns left out is not that of {with_them}"
    return _not_declared(engine, table, k, accepted)


def _not_declared(engine: Engine, table: People, k: int, accepted: AuditResult) -> str | None:
    """Accepted roles count as declared ones do."""
    roles: dict[str, list[str]] = {}
    for column in accepted.columns:
        if column.role in OPTION and not column.recognised:
            roles.setdefault(OPTION[column.role], []).append(column.name)
    declared = qidsql.audit(engine, table.name, k=k, roles="none", entity="row", **roles)  # type: ignore[arg-type]
    if (accepted.verdict, accepted.profile) != (declared.verdict, declared.profile):
        return f"accepted: {accepted.verdict}, declared: {declared.verdict}"
    return None


TRIALS = Trials(
    "audits with proposed roles, against those without and against counted classes", 3000, 6, proposed_roles
)
