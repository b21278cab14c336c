"""The definitions, written again from the papers, for tests to compare with.

Slow and plain on purpose: every row is held against every other row. Nothing here may use how qidsql computes;
`ClassProfile` and the like only hold the numbers.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import log, prod
from typing import Any

from qidsql.commands.risk.population.population import PopulationFigures
from qidsql.measures.population import WeightedClasses
from qidsql.measures.profiles import ClassProfile, ClassSizes, Disclosure
from qidsql.sql.population import SurveyWeights

Values = Sequence[Hashable]


def projected(rows: Sequence[Values], places: Collection[int]) -> list[Values]:
    """The rows on some of their columns."""
    return [tuple(row[place] for place in sorted(places)) for row in rows]


def profile_of(rows: Sequence[Values], k: int) -> ClassProfile:
    """The class profile of rows, all columns taken together."""
    crowds = [sum(other == row for other in rows) for row in rows]  # of each row: the rows that agree with it
    return ClassProfile(
        rows=len(rows),
        classes=len(set(rows)),
        smallest=min(crowds, default=0),
        largest=max(crowds, default=0),
        k=k,
        classes_below_k=len({row for row, crowd in zip(rows, crowds, strict=True) if crowd < k}),
        rows_below_k=sum(crowd < k for crowd in crowds),
        unique_rows=sum(crowd == 1 for crowd in crowds),
        colliding_pairs=sum(crowd - 1 for crowd in crowds),
    )


def matching_profile_of(rows: Sequence[Values], k: int) -> ClassProfile:
    """The profile of rows where a None on either side matches anything [sdcMicro's frequency count]."""
    crowds = frequencies(rows)
    return ClassProfile(
        rows=len(rows),
        classes=0,
        smallest=min(crowds, default=0),
        largest=max(crowds, default=0),
        k=k,
        classes_below_k=0,
        rows_below_k=sum(crowd < k for crowd in crowds),
        unique_rows=sum(crowd == 1 for crowd in crowds),
        colliding_pairs=sum(crowd - 1 for crowd in crowds),
        wildcard=True,
    )


def frequencies(rows: Sequence[Values]) -> list[int]:
    """Of each row, how many rows match it, itself included, where a None matches anything."""

    def match(one: Values, other: Values) -> bool:
        return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))

    return [sum(match(row, other) for other in rows) for row in rows]


def sizes_of(rows: Sequence[Values]) -> ClassSizes:
    """How many classes, and how many rows, there are of each class size."""
    crowd = {row: sum(other == row for other in rows) for row in rows}
    sizes = set(crowd.values())
    return ClassSizes(
        classes={size: sum(each == size for each in crowd.values()) for size in sizes},
        rows={size: sum(crowd[row] == size for row in rows) for size in sizes},
    )


def entity_profile_of(rows: Sequence[Values], entities: Sequence[Hashable], k: int) -> ClassProfile:
    """The class profile that counts distinct entities; `entities` tells whose each row is, and None is an entity."""
    members = _members(rows, entities)
    worst = {e: min(len(m) for m in members.values() if e in m) for e in set(entities)}
    return ClassProfile(
        rows=len(worst),
        classes=len(members),
        smallest=min((len(m) for m in members.values()), default=0),
        largest=max((len(m) for m in members.values()), default=0),
        k=k,
        classes_below_k=sum(len(m) < k for m in members.values()),
        rows_below_k=sum(size < k for size in worst.values()),
        unique_rows=sum(size == 1 for size in worst.values()),
        colliding_pairs=sum(one != other for m in members.values() for one in m for other in m),
        entities=True,
    )


def entity_sizes_of(rows: Sequence[Values], entities: Sequence[Hashable]) -> ClassSizes:
    """How many classes hold so many entities, and how many entities have a smallest class of that size."""
    members = _members(rows, entities)
    worst = {e: min(len(m) for m in members.values() if e in m) for e in set(entities)}
    return ClassSizes(
        classes={size: sum(len(m) == size for m in members.values()) for size in {len(m) for m in members.values()}},
        rows={size: sum(w == size for w in worst.values()) for size in set(worst.values())},
        entities=True,
    )


def survey_weights_of(rows: Sequence[Values], weights: Sequence[float | None]) -> SurveyWeights:
    """The classes by size and sum of weights, where no two sums are nearly the same; none if a weight is unusable."""
    null, bad = weights.count(None), sum(weight is not None and not 0 < weight <= 10**15 for weight in weights)
    totals: dict[Values, list[float]] = defaultdict(list)
    for row, weight in zip(rows, weights, strict=True):
        totals[row].append(weight or 0)
    found = Counter((len(each), sum(each)) for each in totals.values())
    classes = sorted(WeightedClasses(size, total, number) for (size, total), number in found.items())
    return SurveyWeights(() if null or bad else tuple(classes), null, bad)


def subsets(columns: int) -> Iterator[tuple[int, ...]]:
    """Every non-empty set of columns, smaller ones first."""
    for size in range(1, columns + 1):
        yield from combinations(range(columns), size)


def mask_of(places: Collection[int]) -> int:
    return sum(1 << place for place in places)


def _members(rows: Sequence[Values], entities: Sequence[Hashable]) -> dict[Values, set[Hashable]]:
    """The entities in each class."""
    return {row: {e for other, e in zip(rows, entities, strict=True) if other == row} for row in rows}


def disclosure_of(rows: Sequence[Values], k: int) -> Disclosure:
    """What classes disclose; the last cell of each row is the sensitive one."""
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


def values_by_person(persons: set[Hashable], own: Mapping[Hashable, set[Hashable]]) -> int:
    """The different values of a class: 1 if its persons have one in common; else those that are somebody's only one."""
    if set.intersection(*(own[person] for person in persons)):
        return 1
    return max(2, len({value for person in persons for value in own[person] if len(own[person]) == 1}))


def own_values(values: Sequence[Hashable], entities: Sequence[Hashable]) -> dict[Hashable, set[Hashable]]:
    found: dict[Hashable, set[Hashable]] = defaultdict(set)
    for value, person in zip(values, entities, strict=True):
        found[person].add(value)
    return found


def entity_disclosure_of(rows: Sequence[Values], entities: Sequence[Hashable], k: int) -> Disclosure:
    """The same for entities: a person is as exposed as in the class of theirs that holds the fewest values."""
    own = own_values([row[-1] for row in rows], entities)
    found: dict[Hashable, list[tuple[int, bool]]] = defaultdict(list)
    for members in _members([row[:-1] for row in rows], entities).values():
        number, stated = values_by_person(members, own), [own[person] - {None} for person in members]
        common = bool(set.intersection(*stated))
        alike = bool(set.intersection(*([each for each in stated if each] or [set()])))
        for person in members:
            found[person].append((number, not common if number == 1 else alike))
    worst = [min(each) for each in found.values()]
    return Disclosure(
        rows=len(own),
        values=len({value for *_, value in rows}),
        fewest_values=min((number for number, _ in worst), default=0),
        revealed=sum(number == 1 for number, _ in worst),
        revealed_null=worst.count((1, True)),
        nearly_revealed=worst.count((2, True)),
        k=k,
        entities=True,
    )


def exceeds(
    model: str, limit: Fraction | tuple[Fraction, int], group: Sequence[Hashable], table: Sequence[Any]
) -> bool:
    """Whether a class with these sensitive values exceeds a limit on disclosure, in a table with those. For the ordered
    distance they are numbers; None is last.

    l-diversity, entropy-l, recursive-l [Machanavajjhala et al. 2006]; alpha [Wong et al. 2006]; t-closeness, t-ordered
    [Li et al. 2007]; beta-likeness, enhanced-beta [Cao & Karras 2012]; delta-disclosure [Brickell & Shmatikov 2008].
    """
    counts, totals = Counter(group), Counter(table)
    share = {value: Fraction(counts[value], len(group)) for value in totals}
    usual = {value: Fraction(number, len(table)) for value, number in totals.items()}
    if isinstance(limit, tuple):
        ranked = sorted(counts.values(), reverse=True)
        return ranked[0] >= limit[0] * sum(ranked[limit[1] - 1 :])
    match model:
        case "l-diversity":
            return len(counts) < limit
        case "entropy-l":  # entropy < ln l, without logarithms
            powers = limit ** len(group) * prod(Fraction(number) ** number for number in counts.values())
            even = len(set(counts.values())) == 1
            return powers > len(group) ** len(group) or (powers == len(group) ** len(group) and not even)
        case "alpha":
            return max(share.values()) > limit
        case "t-closeness":
            return sum(abs(share[value] - usual[value]) for value in totals) / 2 > limit
        case "t-ordered":
            order = sorted(totals, key=lambda value: (value is None, value))
            gaps = [sum(share[v] - usual[v] for v in order[: place + 1]) for place in range(len(order))]
            return sum(map(abs, gaps)) > limit * max(1, len(order) - 1)
        case "beta-likeness":
            return any((share[v] - usual[v]) / usual[v] > limit for v in totals if share[v] > usual[v])
        case "enhanced-beta":
            excess = {v: (share[v] - usual[v]) / usual[v] for v in totals if share[v] > usual[v]}
            return any(more > limit or more > -log(usual[v]) for v, more in excess.items())
        case "delta-disclosure":
            return any(not share[v] or abs(log(share[v] / usual[v])) >= limit for v in totals)
    raise ValueError(model)


def population_figures_of(rows: Sequence[Values], people: Sequence[Values], k: int) -> PopulationFigures:
    """Published rows held against a population: each row against every person; a None equals nothing there."""
    crowd = [0 if None in row else people.count(row) for row in rows]  # the people that each row could be
    classes = dict(zip(rows, crowd, strict=True))
    matched = [number for number in crowd if number]
    stated = [person for person in people if None not in person]
    shares = [Fraction(rows.count(person), stated.count(person)) for person in stated]
    marketer = sum((Fraction(1, number) for number in matched), Fraction(0)) / len(matched) if matched else None
    fits = {row: number for row, number in classes.items() if number}
    by_classes = Fraction(len(fits), sum(fits.values())) if fits else None
    absent = [row for row, number in classes.items() if not number and None not in row]
    exceeding = [row for row, number in fits.items() if rows.count(row) > number]
    return PopulationFigures(
        rows=len(rows),
        classes=len(set(rows)),
        smallest=min(map(rows.count, rows), default=None),
        sample_uniques=sum(rows.count(row) == 1 for row in rows),
        rows_with_null=sum(None in row for row in rows),
        rows_absent=sum(map(rows.count, absent)),
        classes_absent=len(absent),
        rows_exceeding=sum(map(rows.count, exceeding)),
        classes_exceeding=len(exceeding),
        rows_matched=len(matched),
        people=len(people),
        people_with_null=len(people) - len(stated),
        uncounted=0,
        population_classes=len(set(people)),
        population_classes_absent=len({person for person in people if None in person or person not in rows}),
        population_uniques=sum(people.count(person) == 1 for person in people),
        k_map=min((number for row, number in classes.items() if None not in row), default=None),
        rows_below_k=sum(0 < number < k for number in crowd),
        classes_below_k=sum(0 < number < k for number in classes.values()),
        rows_of_one=crowd.count(1),
        uniques_of_both=sum(number == 1 == rows.count(row) for row, number in classes.items()),
        journalist_max=Fraction(1, min(matched)) if matched else None,
        journalist_by_classes=by_classes,
        journalist_average=max(by_classes, marketer) if by_classes is not None and marketer is not None else None,
        marketer=marketer,
        presence_min=min(shares, default=None),
        presence_max=max(shares, default=None),
    )


def hierarchical_distance(
    group: Sequence[Hashable], table: Sequence[Hashable], paths: Mapping[Hashable, Sequence[str]]
) -> Fraction:
    """The distance of a class with these values from the table, by a hierarchy: `paths` has the nodes above each value.

    At every inner node, what its children have too much and too little is evened out, at the node's height [Li et al.
    2007]; divided by the height of the hierarchy.
    """
    height = max(map(len, paths.values()))
    chains = {value: (value, *path) for value, path in paths.items()}

    def extra(level: int, node: Hashable) -> Fraction:
        under = [value for value, chain in chains.items() if chain[level] == node]
        return sum(
            (Fraction(group.count(v), len(group)) - Fraction(table.count(v), len(table)) for v in under), Fraction(0)
        )

    cost = Fraction(0)
    for level in range(1, height + 1):
        for node in {chain[level] for chain in chains.values()}:
            children = {chain[level - 1] for chain in chains.values() if chain[level] == node}
            gaps = [extra(level - 1, child) for child in children]
            too_much, too_little = (
                sum((max(sign * gap, Fraction(0)) for gap in gaps), Fraction(0)) for sign in (1, -1)
            )
            cost += Fraction(level, height) * min(too_much, too_little)
    return cost
