"""Panels, in which persons have several rows: no pass by rows until somebody confirms what a row is.

The tables of the R packages AER, survival, MASS, nlme, lme4, plm and others are made here in their published shapes,
persons x waves with their columns' names; the other panels are drawn. Between them are honest tables, whose rows are
persons: their verdict is that by rows, as if nothing had been asked.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import qidsql
from qidsql.engines.base import Engine
from qidsql.operations.policy_file import read_policy_file
from qidsql.operations.run import run
from tests.policies import policy_file
from tests.stores import DuckDBStore, PostgresStore, Store
from tests.trials import Ground, Trials

TOGETHER = 20  # tables in one database
# name: (the column of the persons, how many there are, rows of each, other columns and their numbers of values)
PUBLISHED: dict[str, tuple[str, int, tuple[int, int], dict[str, int]]] = {
    "PSID7682": ("id", 595, (7, 7), {"year": 7, "south": 2, "smsa": 2, "gender": 2, "union": 2}),
    "heart": ("id", 103, (1, 2), {"event": 2, "surgery": 2, "transplant": 2}),
    "pbcseq": ("id", 312, (1, 16), {"sex": 2, "status": 3, "ascites": 2, "edema": 3}),
    "cgd": ("id", 128, (1, 8), {"treat": 2, "sex": 2, "inherit": 2, "steroids": 2}),
    "bladder": ("id", 85, (4, 4), {"rx": 2, "number": 8, "event": 2, "enum": 4}),
    "ohio": ("id", 537, (4, 4), {"resp": 2, "age": 4, "smoke": 2}),
    "Males": ("nr", 545, (8, 8), {"year": 8, "union": 2, "ethn": 3, "maried": 2}),
    "wagepan": ("nr", 545, (8, 8), {"year": 8, "black": 2, "hisp": 2, "married": 2}),
    "bacteria": ("ID", 50, (2, 5), {"y": 2, "ap": 2, "hilo": 2, "week": 5}),
    "epil": ("subject", 59, (4, 4), {"trt": 2, "V4": 2, "period": 4}),
    "Blackmore": ("subject", 231, (2, 5), {"group": 2, "age": 5}),
    "Orthodont": ("Subject", 27, (4, 4), {"age": 4, "Sex": 2}),
    "sleepstudy": ("Subject", 18, (10, 10), {"Days": 10}),
}
PERSONS = ("person", "patient", "customer", "client", "member", "student", "pupil", "participant", "respondent")
PERSONS += ("subject", "user", "resident", "Patienten", "Kunden", "paciente", "assuré", "employee", "worker")
NUMBERS = ("id", "ID", "no", "nr", "number", "num", "key", "code", "uuid", "identifier")
BARE = ("id", "ID", "Id", "nr", "pid", "PID", "idcode", "caseid", "subjid", "USUBJID", "ptid", "persnr", "uid")
GIVEN = ("ssn", "nhs_number", "mrn", "medical_record_number", "national_id", "passport_number", "NIR", "matricule")
ALONE = ("subject", "Subject", "patient", "person", "participant", "respondent", "student", "customer")
STATIC = {"sex": 2, "cohort": 3, "region": 4, "smoker": 2, "educ": 3}
VARYING = {"year": 4, "wave": 3, "season": 2, "union": 2, "employed": 2}
THINGS = {
    "firm_id": 12,
    "country": 5,
    "dept_no": 4,
    "children": 5,
    "persons": 6,
    "members": 4,
    "number": 8,
    "insured": 2,
}
THINGS |= {"doctor_id": 6, "order_no": 30, "people_liable": 3, "citizen": 3, "day": 28, "product_key": 9}


@dataclass(frozen=True)
class Panel:
    """`persons` are the persons of the rows; `number` names the column that has their numbers, if there is one."""

    name: str
    number: str | None
    persons: list[int]
    columns: dict[str, list[int | None]]
    audited: tuple[str, ...]
    k: int = 2

    def smallest(self, of_persons: bool) -> int:
        """The smallest class of the audited columns: its rows, or the persons in it."""
        classes: dict[tuple[int | None, ...], list[int]] = {}
        rows = zip(*(self.columns[name] for name in self.audited), strict=True)
        for person, row in zip(self.persons, rows, strict=True):
            classes.setdefault(row, []).append(person)
        return min(len(set(each) if of_persons else each) for each in classes.values())

    @property
    def left_out(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name not in self.audited)

    def load(self, store: Store) -> None:
        store.table(self.name, dict.fromkeys(self.columns, "INTEGER"), list(zip(*self.columns.values(), strict=True)))


def published(name: str, chance: Random) -> Panel:
    number, many, (least, most), others = PUBLISHED[name]
    rows = [(person, wave) for person in range(many) for wave in range(chance.randint(least, most))]
    persons = [person for person, _ in rows]
    columns: dict[str, list[int | None]] = {number: [100 + person for person in persons]}
    for column, values in others.items():  # what has a value for each wave is the wave
        columns[column] = [wave if values == most else chance.randrange(values) for _, wave in rows]
    audited = tuple(list(others)[: chance.randint(1, 3)])
    return _asked(Panel(name, number, persons, columns, audited), chance)


def drawn(name: str, chance: Random) -> Panel:
    """A panel, or an honest table: with unique numbers, with none, and both with numbers of things that repeat."""
    honest = chance.random() < 0.4
    many = chance.choice((8, 20, 60))
    waves = 1 if honest else chance.choice((2, 3, 6))
    persons = [person for person in range(many) for _ in range(waves if chance.random() < 0.9 else 1)]
    if not honest and len(set(persons)) == len(persons):
        persons += persons[:2]
    columns: dict[str, list[int | None]] = {}
    number = _number(chance) if not honest or chance.random() < 0.7 else None
    if number is not None:
        shift = chance.choice((0, 1000, 308))
        columns[number] = [person + shift for person in persons]
    for static in chance.sample(sorted(STATIC), chance.randint(1, 2)):
        of_person = [chance.randrange(STATIC[static]) for _ in range(many)]
        columns[static] = [of_person[person] for person in persons]
    for varying in chance.sample(sorted(VARYING), chance.randint(0, 2)):
        columns[varying] = [chance.randrange(VARYING[varying]) for _ in persons]
    audited = tuple(name for name in columns if name != number)
    if number is not None or not honest:
        for thing in chance.sample(sorted(THINGS), chance.randint(0, 2)):
            columns[thing] = [chance.randrange(THINGS[thing]) for _ in persons]
    elif chance.random() < 0.5:
        columns["country"] = [chance.randrange(5) for _ in persons]
    order = list(range(len(persons)))
    chance.shuffle(order)
    columns = {column: [values[place] for place in order] for column, values in columns.items()}
    return _asked(Panel(name, number, [persons[place] for place in order], columns, audited), chance)


def _asked(panel: Panel, chance: Random) -> Panel:
    """With a k that mostly tells rows from persons, where one has a class of more rows than persons."""
    persons, rows = panel.smallest(of_persons=True), panel.smallest(of_persons=False)
    between = persons < rows > 1 and chance.random() < 0.7
    return replace(panel, k=chance.randint(max(2, persons + 1), rows) if between else chance.choice((2, 3, 5)))


def _number(chance: Random) -> str:
    """The name of a column of persons' numbers."""
    kind = chance.choice(("of", "of", "bare", "given", "alone"))
    if kind == "of":
        person, number = chance.choice(PERSONS), chance.choice(NUMBERS)
        joined = (f"{person}_{number}", f"{person}{number.capitalize()}", f"{number}_{person}", f"{person} {number}")
        return chance.choice((*joined, f"{person}_{number}".upper()))
    return chance.choice({"bare": BARE, "given": GIVEN, "alone": ALONE}[kind])


def panels(number: int, seed: int, ground: Ground) -> Iterator[str | None]:
    """One trial is one table: declared in Python or in a policy, by rows, by persons, and confirmed as each."""
    names = sorted(PUBLISHED)
    for first in range(0, number, TOGETHER):
        places = range(first, min(first + TOGETHER, number))
        tables = [
            published(names[place // 4], Random(f"{seed} {place}"))
            if place % 4 == 0 and place // 4 < len(names)
            else drawn(f"t{place}", Random(f"{seed} {place}"))
            for place in places
        ]
        kind = PostgresStore if first // TOGETHER % 4 == 3 else DuckDBStore
        where = ground.postgres_url() if kind is PostgresStore else ground.folder / f"panels{first}.duckdb"
        with kind(where) as store:  # type: ignore[arg-type]
            for table in tables:
                table.load(store)
            by_run = dict(_by_run(store, tables, ground.folder))
            with store.connect() as engine:
                for table in tables:
                    wrong = _wrong(engine, table, by_run[table.name])
                    yield wrong and f"seed {seed}, {store.name} {table.name} {list(table.columns)} k={table.k}: {wrong}"


def _wrong(engine: Engine, table: Panel, by_run: str) -> str | None:
    by_rows = "pass" if table.smallest(of_persons=False) >= table.k else "violation"
    by_persons = "pass" if table.smallest(of_persons=True) >= table.k else "violation"
    asked = {"k": table.k, "identifiers": table.left_out, "roles": "none"}
    open_one = by_rows if by_rows == by_persons else "inconclusive"
    found = {
        "declared": (qidsql.audit(engine, table.name, **asked).verdict, open_one),
        "chosen": (qidsql.audit(engine, table.name, k=table.k, columns=table.audited).verdict, open_one),
        "run": (by_run, open_one),
        "each row": (qidsql.audit(engine, table.name, **asked, entity="row").verdict, by_rows),
    }
    if table.number is not None:
        persons = {**asked, "identifiers": [name for name in table.left_out if name != table.number]}
        found["persons"] = qidsql.audit(engine, table.name, **persons, entity=table.number).verdict, by_persons
    wrong = [f"{way}: {verdict}, not {right}" for way, (verdict, right) in found.items() if verdict != right]
    return "; ".join(wrong) or None


def _by_run(store: Store, tables: list[Panel], folder: Path) -> Iterator[tuple[str, str]]:
    """The verdict of a run on each table, with a policy that names its columns."""
    texts = []
    for table in tables:
        roles = {name: "quasi-identifier" if name in table.audited else "direct identifier" for name in table.columns}
        lines = "".join(
            f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(role)}\n" for name, role in roles.items()
        )
        texts.append(f'[[tables]]\ntable = "{table.name}"\nk = {table.k}\n[tables.roles]\n{lines}')
    found = run(read_policy_file(policy_file(folder, store.url, "\n".join(texts))))
    for each in found.tables:
        yield each.table.rpartition(".")[2], each.verdict


TRIALS = Trials("panels: no pass by rows where persons repeat, honest tables unchanged", 513, 8, panels)
