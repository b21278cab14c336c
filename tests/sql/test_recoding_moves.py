"""Rounds of moves against their definition, over random plans of random rows; changes of the statements are noticed."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.sql import templates
from qidsql.sql.local_recoding import Ladder
from qidsql.sql.recoding_moves import LossOfColumn, RoundsOfMoves, Words, masks_in_use, start_of_moves, step_shown
from tests.exhaustive import always

FOLDER = Path(__file__).parents[2] / "sql_templates" / "recoding_moves"
WIDTH = 2  # bits of a level
CONNECTION = duckdb.connect()
Code = tuple[int, int]


@dataclass
class Case:
    """Codes of two words with their rows, masks and losses: for each column, what a code loses at each step, and
    without any. The plan is not always safe: what a group has to spare is then less than nothing."""

    k: int
    ladders: list[Ladder]
    rows: dict[Code, int]
    plan: dict[Code, Words]
    lost: dict[Code, list[list[int]]]
    masks: list[Words]

    def loss(self, code: Code, mask: Words) -> int:
        pairs = zip(self.ladders, self.lost[code], strict=True)
        return sum(own[step_shown(ladder, mask) + 1] for ladder, own in pairs)

    @property
    def losses(self) -> list[LossOfColumn]:
        return [
            LossOfColumn(
                ladder,
                [exp.column(f"g{place}_{step}") for step in range(1, len(ladder.masks) + 1)],
                exp.column(f"g{place}_0"),
            )
            for place, ladder in enumerate(self.ladders)
        ]

    @property
    def leaves(self) -> list[str]:
        return [
            f"g{place}_{step}" for place, ladder in enumerate(self.ladders) for step in range(len(ladder.masks) + 1)
        ]


def masks_of(ladders: list[Ladder]) -> list[Words]:
    found = []
    for steps in product(*((0, *ladder.masks) for ladder in ladders)):
        words = [0, 0]
        for ladder, bits in zip(ladders, steps, strict=True):
            words[ladder.word] |= bits
        found.append((words[0], words[1]))
    return found


def random_case(seed: int) -> Case:
    draw = Random(seed)
    ladders, ends = [], [0, 0]
    for _ in range(draw.randint(1, 3)):
        depth, word = draw.randint(1, 2), draw.randrange(2)
        ends[word] += depth * WIDTH
        steps = [(1 << WIDTH * level) - 1 << ends[word] - WIDTH * level for level in range(1, depth + 1)]
        ladders.append(Ladder(word, steps))
    codes = [(draw.randrange(1 << ends[0]), draw.randrange(1 << ends[1])) for _ in range(draw.randint(2, 25))]
    every = masks_of(ladders)
    own = [*every[:2], every[-1], *draw.sample(every, draw.randint(1, len(every)))]
    rows = {code: draw.choice([1, 1, 2, 4]) for code in codes}
    lost = {
        code: [[draw.randrange(9, 14), *(draw.randrange(9) for _ in each.masks)] for each in ladders] for code in codes
    }
    plan = {code: draw.choice(own[: draw.randint(1, 3)]) for code in codes}
    return Case(draw.randint(2, 4), ladders, rows, plan, lost, draw.sample(every, draw.randint(1, len(every))))


def path(code: Code, mask: Words) -> Words:
    return code[0] & mask[0], code[1] & mask[1]


def after_a_round(case: Case) -> dict[Code, Words]:
    """The masks of the codes."""
    groups: Counter[tuple[Words, Words]] = Counter()
    own = {code: (mask, path(code, mask)) for code, mask in case.plan.items()}
    for code, n in case.rows.items():
        groups[own[code]] += n
    gains: dict[tuple[Words, Words], dict[Code, int]] = defaultdict(dict)
    for code, mask in product(case.rows, case.masks):
        gain = case.loss(code, case.plan[code]) - case.loss(code, mask)
        if gain > 0 and groups[own[code]] - case.rows[code] >= case.k:
            gains[mask, path(code, mask)][code] = gain
    open_ = [each for each, codes in gains.items() if each in groups or sum(map(case.rows.get, codes)) >= case.k]  # type: ignore[arg-type]
    votes = {}
    for code in case.rows:
        best = [(-sum(gains[each].values()), each) for each in open_ if code in gains[each]]
        if best:
            votes[code] = min(best)[1]
    votes = enough(case, votes, set(groups))
    gone: Counter[tuple[Words, Words]] = Counter()
    allowed = {}
    for code in sorted(votes, key=lambda code: (-gains[votes[code]][code], code)):
        gone[own[code]] += case.rows[code]
        if gone[own[code]] <= groups[own[code]] - case.k:
            allowed[code] = votes[code]
    masks = {**case.plan, **{code: target[0] for code, target in enough(case, allowed, set(groups)).items()}}
    alike = defaultdict(list)
    for code, mask in masks.items():
        alike[mask, path(code, mask)].append(code)
    return {code: finest(case, codes) for codes in alike.values() for code in codes}


def enough(
    case: Case, votes: dict[Code, tuple[Words, Words]], groups: set[tuple[Words, Words]]
) -> dict[Code, tuple[Words, Words]]:
    """The votes for groups that exist, or that k rows vote for."""
    rows: Counter[tuple[Words, Words]] = Counter()
    for code, target in votes.items():
        rows[target] += case.rows[code]
    return {code: target for code, target in votes.items() if target in groups or rows[target] >= case.k}


def finest(case: Case, codes: list[Code]) -> Words:
    """The levels of all columns on which these codes agree."""
    words = [0, 0]
    for ladder in case.ladders:
        agreed = [bits for bits in ladder.masks if len({code[ladder.word] & bits for code in codes}) == 1]
        words[ladder.word] |= max(agreed, default=0, key=ladder.masks.index) if agreed else 0
    return words[0], words[1]


def relation(names: list[str], rows: list[tuple[int, ...]]) -> exp.Query:
    text = f"SELECT * FROM (VALUES {', '.join(map(str, rows))}) AS listed ({', '.join(names)})"
    query = sqlglot.parse_one(text, read="duckdb")
    assert isinstance(query, exp.Query)
    return query


def by_sql(case: Case) -> tuple[dict[Code, tuple[Words, int]], Counter[Words]]:
    """The masks and losses of the codes after a round, and the rows of each mask before."""
    plan = relation(
        ["w0", "w1", "m0", "m1", "n"], [(*code, *mask, case.rows[code]) for code, mask in case.plan.items()]
    )
    cells = [(*code, n, *(loss for own in case.lost[code] for loss in own)) for code, n in case.rows.items()]
    classes = relation(["w0", "w1", "n", *case.leaves], cells)
    with CONNECTION.cursor() as connection:
        start = start_of_moves(plan.copy(), 2, classes, case.leaves, case.losses)
        rounds = RoundsOfMoves(DUCKDB, 2, case.k, case.leaves, case.losses)
        text = rounds.text(DUCKDB.render(start), case.masks)
        columns = f"w0, w1, m0, m1, n, loss, {', '.join(case.leaves)}"
        found = connection.execute(f"SELECT {columns} FROM ({text})").fetchall()
        used = connection.execute(DUCKDB.render(masks_in_use(plan, 2, exp.Literal.number(7)))).fetchall()
    assert len(found) == len(case.rows)
    for w0, w1, _, _, n, _, *leaves in found:
        assert (n, leaves) == (case.rows[w0, w1], [loss for own in case.lost[w0, w1] for loss in own])
    codes = Counter(case.plan.values())
    assert {(m0, m1): (number, 7) for m0, m1, _, number, _ in used} == {mask: (n, 7) for mask, n in codes.items()}
    return {(row[0], row[1]): ((row[2], row[3]), row[5]) for row in found}, Counter(
        {(row[0], row[1]): int(row[2]) for row in used}
    )


def right(case: Case) -> bool:
    try:
        found, used = by_sql(case)
    except (duckdb.Error, AssertionError):
        return False
    masks = after_a_round(case)
    rows: Counter[Words] = Counter()
    for code, mask in case.plan.items():
        rows[mask] += case.rows[code]
    return used == rows and found == {code: (mask, case.loss(code, mask)) for code, mask in masks.items()}


@pytest.mark.parametrize("seeds", always(range(60), longer=[range(60, 360)]))
def test_a_round_is_as_defined(seeds: range) -> None:
    moved = 0
    for seed in seeds:
        case = random_case(seed)
        assert right(case), seed
        moved += any(case.plan[code] != mask for code, mask in after_a_round(case).items())
    assert moved > len(seeds) // 4


MUTANTS = [
    ("start", "CAST(:loss AS BIGINT)", "CAST(:loss AS BIGINT) + 1"),
    ("candidates", "loss - :loss AS gain", "loss AS gain"),
    ("candidates", "WHERE loss > :loss", "WHERE loss >= :loss"),
    ("masks", "SUM(n)", "MAX(n)"),
    ("masks", "COUNT(*)", "SUM(n)"),
    ("round", "CAST(SUM(n) AS BIGINT) AS size", "CAST(COUNT(*) AS BIGINT) AS size"),
    ("round", "groups.size - state.n >= :k", "groups.size >= :k"),
    ("round", "WHERE row_count >= :k OR", "WHERE row_count > :k OR"),
    ("round", "OR NOT groups.size IS NULL", "OR FALSE"),
    ("round", "groups.size IS NULL AS opens", "TRUE AS opens"),
    ("round", "CAST(SUM(gain) AS BIGINT)", "CAST(MAX(gain) AS BIGINT)"),
    ("round", "targets.worth DESC, :wanted", "targets.worth, :wanted"),
    ("round", "WHERE choice = 1", "WHERE choice <= 2"),
    ("round", "WHERE NOT opens OR going >= :k", "WHERE TRUE"),
    ("round", "gain DESC, :codes ROWS", ":codes ROWS"),
    ("round", "WHERE gone <= size - :k", "WHERE gone < size"),
    ("round", "WHERE NOT opens OR arriving >= :k", "WHERE TRUE"),
    ("round", "state.loss - COALESCE(moves.gain, 0)", "state.loss"),
    ("round", "WHEN :same_masks THEN", "WHEN :same_masks OR TRUE THEN"),
]


@pytest.fixture
def forgotten() -> Iterator[None]:
    """Parsed templates are kept."""
    yield
    templates.template.cache_clear()
    templates._paths_to_holes.cache_clear()


@pytest.mark.parametrize(("name", "before", "after"), MUTANTS)
def test_a_mutant_is_noticed(
    name: str, before: str, after: str, forgotten: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (FOLDER / f"{name}.sql").read_text(encoding="utf-8")
    assert text.count(before) == 1, before
    as_it_is = templates.sql_file
    changed = text.replace(before, after)
    monkeypatch.setattr(
        templates, "sql_file", lambda own: changed if own == f"recoding_moves/{name}" else as_it_is(own)
    )
    templates.template.cache_clear()
    templates._paths_to_holes.cache_clear()
    assert not all(right(random_case(seed)) for seed in range(200))
