"""Graphs for the tests, from plain lists of tables: an attribute of one name is one, whichever table it stands in."""

import random
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from qidsql.attribute_graph.graph import AttributeGraph, GraphTable, attribute_graph
from qidsql.core.tables import Attribute, Ground, SameAttribute, TableName

Dependencies = Mapping[int, Sequence[tuple[str, str]]]


def graph_of(tables: Sequence[Sequence[str]], dependencies: Dependencies | None = None) -> AttributeGraph:
    made = [
        GraphTable(TableName(f"t{n}"), tuple(columns), "outside", tuple((dependencies or {}).get(n, ())))
        for n, columns in enumerate(tables)
    ]
    holders: dict[str, list[Attribute]] = {}
    for table in made:
        for attribute in table.attributes:
            holders.setdefault(attribute.column, []).append(attribute)
    same_attributes = [
        SameAttribute(each[0], other, Ground.DECLARED) for each in holders.values() for other in each[1:]
    ]
    return attribute_graph(made, same_attributes)


def random_tables(seed: int) -> tuple[list[list[str]], Dependencies]:
    """Up to 9 attributes in up to 6 tables, always an a and a z, mostly apart; in every third case dependencies."""
    chance = random.Random(seed)
    names = list("abcdefghz"[-chance.randint(5, 9) :])
    names[0] = "a"
    tables = []
    for _ in range(chance.randint(2, 6)):
        columns = chance.sample(names, chance.randint(2, min(4, len(names))))
        if {"a", "z"} <= set(columns) and chance.random() < 0.9:
            columns.remove("z")
        tables.append(columns)
    tables += [[each, chance.choice(names[1:-1])] for each in ("a", "z") if not any(each in table for table in tables)]
    found = {}
    if seed % 3 == 0:
        for number, columns in enumerate(tables):
            found[number] = [tuple(chance.sample(columns, 2)) for _ in range(chance.randint(0, 2)) if len(columns) > 1]
    return tables, found


# Yan et al., written again: no code under test is used below


def arcs(tables: Sequence[Sequence[str]], dependencies: Dependencies) -> set[tuple[str, str]]:
    """Both ways between the attributes of a table, but from b to a only where a determines b and b not a, in however
    many steps."""
    found = set()
    for number, columns in enumerate(tables):
        steps = set(dependencies.get(number, ()))
        for _ in columns:
            steps |= {(a, d) for a, b in steps for c, d in steps if b == c}
        declared = set(dependencies.get(number, ()))
        for one in columns:
            for other in columns:
                back = (other, one) in declared and (one, other) not in steps
                if one != other and not back:
                    found.add((one, other))
    return found


def separates(
    taken: Collection[str], ways: Collection[tuple[str, str]], identifiers: Collection[str], sensitive: Collection[str]
) -> bool:
    """Whether no identifier leads to a sensitive attribute without what is taken."""
    reached = set(identifiers)
    while more := {b for a, b in ways if a in reached and b not in taken} - reached:
        reached |= more
    return not reached & set(sensitive)


def brute_force(
    ways: Collection[tuple[str, str]], names: Collection[str], identifiers: Collection[str], sensitive: Collection[str]
) -> set[frozenset[str]]:
    """All smallest separating sets, out of all sets; none where nothing separates."""
    others = sorted(set(names) - set(identifiers) - set(sensitive))
    for size in range(len(others) + 1):
        found = {frozenset(s) for s in combinations(others, size) if separates(s, ways, identifiers, sensitive)}
        if found:
            return found
    return set()
