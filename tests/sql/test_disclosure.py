"""What classes disclose about a sensitive column: the definitions written again."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction

import pytest

from qidsql.measures.disclosure import Disclosure
from qidsql.sql.disclosure import disclosure
from qidsql.sql.relation import relation
from tests.exhaustive import always
from tests.random_tables import load, random_table
from tests.stores import EVERY_ENGINE, Store

K = 3
Values = tuple[Hashable, ...]


def of_rows(rows: Sequence[Values], k: int) -> Disclosure:
    """By definition, the last cell of each row being the sensitive one."""
    crowds: dict[Values, list[Hashable]] = defaultdict(list)
    for *known, value in rows:
        crowds[tuple(known)].append(value)
    table = Counter(value for *_, value in rows)
    commonest = {known: max(Counter(values).values()) for known, values in crowds.items()}
    return Disclosure(
        rows=len(rows),
        values=len(table),
        fewest_values=min((len(set(values)) for values in crowds.values()), default=0),
        revealed=sum(len(set(crowds[tuple(known)])) == 1 for *known, _ in rows),
        revealed_null=sum(set(crowds[tuple(known)]) == {None} for *known, _ in rows),
        nearly_revealed=sum(
            len(set(values)) == 2 and None in values for *known, _ in rows for values in [crowds[tuple(known)]]
        ),
        k=k,
        guessed_blindly=max(table.values(), default=0),
        guessed=sum(commonest.values()),
        rows_in_large=sum(len(values) for values in crowds.values() if len(values) >= k),
        guessed_in_large=sum(commonest[known] for known, values in crowds.items() if len(values) >= k),
    )


def of_entities(rows: Sequence[Values], entities: Sequence[Hashable], k: int) -> Disclosure:
    """By definition: a person is as exposed as in the class of theirs that holds the fewest values."""
    values: dict[Values, set[Hashable]] = defaultdict(set)
    for *known, value in rows:
        values[tuple(known)].add(value)
    own: dict[Hashable, list[set[Hashable]]] = defaultdict(list)
    for (*known, _), person in zip(rows, entities, strict=True):
        own[person].append(values[tuple(known)])
    least = {person: min(len(each) for each in found) for person, found in own.items()}
    worst = {person: [each for each in found if len(each) == least[person]] for person, found in own.items()}
    return Disclosure(
        rows=len(own),
        values=len({value for *_, value in rows}),
        fewest_values=min(least.values(), default=0),
        revealed=sum(number == 1 for number in least.values()),
        revealed_null=sum(all(each == {None} for each in found) for found in worst.values()),
        nearly_revealed=sum(least[person] == 2 and all(None in each for each in worst[person]) for person in own),
        k=k,
        entities=True,
    )


@pytest.mark.parametrize("seed", always(*range(40), longer=range(40, 700)))
@EVERY_ENGINE
def test_random_tables(store: Store, seed: int) -> None:
    table = random_table(seed, store.name)
    if table.columns < 2:
        pytest.skip("no column beside the sensitive one")
    load(store, [table])
    *known, sensitive = table.names
    rows = [row[:-1] for row in table.rows]
    with store.connect() as engine:
        described = engine.describe(table.name)
        source = relation(engine.dialect, described, described.columns)
        names = tuple(known)
        assert engine.run(disclosure(engine.dialect, source, names, sensitive, K)) == of_rows(rows, K)
        found = engine.run(disclosure(engine.dialect, source, names, sensitive, K, "person"))
        assert found == of_entities(rows, table.entities, K)


def test_a_guess_is_never_worse_than_a_blind_one() -> None:
    rows: list[Values] = [("a", 1), ("a", 2), ("b", 1), ("b", 1), ("c", None)]
    found = of_rows(rows, 2)
    assert (found.guess_before, found.guess_after) == (Fraction(3, 5), Fraction(4, 5))
    assert found.guess_in_large == Fraction(3, 4)
    assert (found.revealed, found.revealed_null) == (3, 1)
