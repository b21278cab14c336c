"""Statements that improve a plan of local recoding by moves of rows; see `recoding_moves/round.sql`.

Codes and masks are words, w0, w1, ... and m0, m1, ..., as in `local_recoding`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from qidsql.sql.dialects import Dialect
from qidsql.sql.local_recoding import Ladder, bits_of_both, finest, same_codes, word_names
from qidsql.sql.masks import big
from qidsql.sql.templates import fill, fill_query, mark_of_table, marks, pieces_of, put_together

Words: TypeAlias = tuple[int, ...]  # a mask


@dataclass(frozen=True)
class LossOfColumn:
    """What the rows of a code lose in a column: by what it shows, the coarsest level first; else `withheld`."""

    ladder: Ladder
    at: Sequence[exp.Expr]
    withheld: exp.Expr


def start_of_moves(
    plan: exp.Query, words: int, classes: exp.Query, leaves: Sequence[str], losses: Sequence[LossOfColumn]
) -> exp.Query:
    """The query for the codes of the rows with their masks, n, `leaves` and loss. `classes`: codes, n, leaves."""
    codes, masks = word_names("w", words), word_names("m", words)
    return fill_query(
        "recoding_moves/start",
        plan=plan.subquery("made"),
        words=[*map(exp.column, codes), *map(exp.column, masks)],
        classes=classes.subquery("classes"),
        same=same_codes("classes", words),
        kept=[
            *(exp.column(code, table="classes") for code in codes),
            *(exp.column(mask, table="plan") for mask in masks),
            *(exp.column(name, table="classes") for name in ("n", *leaves)),
        ],
        loss=_loss(losses, lambda word: exp.column(f"m{word}", table="plan")),
    )


def masks_in_use(plan: exp.Query, words: int, loss: exp.Expr) -> exp.Query:
    """The query for the masks of a plan, with their rows, codes, and the `loss` of these."""
    masks = [exp.column(mask) for mask in word_names("m", words)]
    return fill_query("recoding_moves/masks", plan=plan.subquery("made"), masks=masks, loss=loss)


class RoundsOfMoves:
    """Writes the statements of rounds of moves, which differ in the masks alone."""

    def __init__(
        self, dialect: Dialect, words: int, k: int, leaves: Sequence[str], losses: Sequence[LossOfColumn]
    ) -> None:
        frame = _round(words, k, leaves, losses)
        self._frame, self._arm = pieces_of(dialect, frame), pieces_of(dialect, _candidates(words))
        self._ladders = [each.ladder for each in losses]
        self._lost = [[dialect.render(each.copy()) for each in (column.withheld, *column.at)] for column in losses]

    def text(self, state: str, masks: Sequence[Words]) -> str:
        """The text of the query for `state`, a query as `start_of_moves`, after a round of moves to groups with these
        masks."""
        arms = (put_together(self._arm, self._parts(mask)) for mask in masks)
        return put_together(
            self._frame, {"state": f"({state}) AS before", "candidates": f"({' UNION ALL '.join(arms)}) AS of_masks"}
        )

    def _parts(self, mask: Words) -> dict[str, str]:
        lost = [own[step_shown(ladder, mask) + 1] for own, ladder in zip(self._lost, self._ladders, strict=True)]
        target = [f"CAST({bits} AS BIGINT) AS t{word}" for word, bits in enumerate(mask)]
        target += [f"w{word} & {bits} AS p{word}" for word, bits in enumerate(mask)]
        return {"target": ", ".join(target), "loss": f"({' + '.join(each for each in lost if each != '0') or '0'})"}


def step_shown(ladder: Ladder, mask: Words) -> int:
    """Which level of a column a mask shows; -1: none."""
    own = mask[ladder.word] & ladder.masks[-1]
    return ladder.masks.index(own) if own else -1


def _round(words: int, k: int, leaves: Sequence[str], losses: Sequence[LossOfColumn]) -> exp.Expr:
    codes, own = word_names("w", words), [*word_names("q", words), *word_names("r", words)]
    target, ladders = [*word_names("t", words), *word_names("p", words)], [each.ladder for each in losses]
    moved = "moved"
    plain = [
        *map(exp.column, word_names("m", words)),
        *(bits_of_both(c, m) for c, m in zip(codes, word_names("m", words), strict=True)),
    ]
    return fill(
        "recoding_moves/round",
        state=mark_of_table("state"),
        k=k,
        group=plain,
        named_group=[exp.alias_(each, name) for each, name in zip(plain, own, strict=True)],
        own=[exp.column(name) for name in own],
        codes=[exp.column(code) for code in codes],
        voters=[exp.column(code, table="candidates") for code in codes],
        target=[exp.column(name) for name in target],
        wanted=[exp.column(name, table="targets") for name in target],
        candidates=mark_of_table("candidates"),
        in_groups=_equal(_group_of("state", words), [exp.column(name, table="groups") for name in own]),
        in_agreed=_equal(_group_of(moved, words), [exp.column(name, table="agreeing") for name in own]),
        exists=_alike("wanted", target, "groups", own),
        chosen=_alike("candidates", target, "targets", target),
        known=_alike("votes", codes, "leaving", codes),
        of_row=_alike("state", codes, "moves", codes),
        differing=[
            exp.alias_(
                exp.Sub(
                    this=exp.Anonymous(this="BIT_OR", expressions=[exp.column(code)]),
                    expression=exp.Anonymous(this="BIT_AND", expressions=[exp.column(code)]),
                ),
                f"d{word}",
            )
            for word, code in enumerate(codes)
        ],
        finest=[exp.alias_(finest(ladders, word), f"f{word}") for word in range(words)],
        as_moved=[
            *(exp.column(code, table="state") for code in codes),
            *(
                exp.alias_(
                    exp.func("COALESCE", exp.column(f"t{word}", table="moves"), exp.column(mask, table="state")), mask
                )
                for word, mask in enumerate(word_names("m", words))
            ),
            *(exp.column(name, table="state") for name in leaves),
        ],
        tight=[
            *(exp.column(code, table=moved) for code in codes),
            *(
                exp.alias_(exp.column(f"f{word}", table="agreeing"), mask)
                for word, mask in enumerate(word_names("m", words))
            ),
            *(exp.column(name, table=moved) for name in ("n", *leaves)),
        ],
        same_masks=_alike(moved, word_names("m", words), "agreeing", word_names("f", words)),
        loss=_loss(losses, lambda word: exp.column(f"f{word}", table="agreeing")),
    )


def _group_of(table: str, words: int) -> list[exp.Expr]:
    """What the group of a row shows: its masks, and their bits of its codes."""
    masks = [exp.column(mask, table=table) for mask in word_names("m", words)]
    codes = [exp.column(code, table=table) for code in word_names("w", words)]
    return [*masks, *(bits_of_both(code, mask.copy()) for code, mask in zip(codes, masks, strict=True))]


def _candidates(words: int) -> exp.Expr:
    return fill(
        "recoding_moves/candidates",
        codes=[exp.column(f"w{word}") for word in range(words)],
        **marks("target", "loss"),
    )


def _loss(losses: Sequence[LossOfColumn], mask: Callable[[int], exp.Expr]) -> exp.Expr:
    """What rows lose by their own mask, given word by word."""
    parts: list[exp.Expr] = []
    for each in losses:
        own = bits_of_both(mask(each.ladder.word), each.ladder.masks[-1])
        ifs = [
            exp.If(this=own.copy().eq(big(bits)), true=lost.copy())
            for bits, lost in zip(each.ladder.masks, each.at, strict=True)
        ]
        parts.append(exp.Case(ifs=ifs, default=each.withheld.copy()))
    return _sum(parts)


def _sum(parts: Sequence[exp.Expr]) -> exp.Expr:
    total: exp.Expr = exp.Literal.number(0)
    for part in parts:
        total = exp.Add(this=total, expression=part.copy())
    return exp.paren(total)


def _equal(one: Sequence[exp.Expr], other: Sequence[exp.Expr]) -> exp.Expr:
    return exp.and_(*(a.eq(b) for a, b in zip(one, other, strict=True)))


def _alike(one: str, columns: Sequence[str], other: str, others: Sequence[str]) -> exp.Expr:
    return _equal([exp.column(name, table=one) for name in columns], [exp.column(name, table=other) for name in others])
