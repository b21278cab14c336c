"""The claims of protect by cells, checked on the codes of the rows by the plan and the prices in the result.

The plan is carried out on the codes: its figures are counted anew, and so are the rows and the people that it leaves.
A bound follows from prices, or from what each row must lose, computed here from the codes. A copy is the plan if both,
coded alike, have the same rows.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from qidsql.commands.protect.cells.command import Attack, CellsMethod
from qidsql.commands.protect.cells.identical import anonymizing
from qidsql.commands.protect.cells.identical_result import IdenticalRows
from qidsql.commands.protect.cells.matching import suppressing
from qidsql.commands.protect.cells.matching_result import MatchingRows
from qidsql.commands.protect.result import ProtectResult
from qidsql.commands.table_protection import Printed, TableProtection
from qidsql.commands.verify.command import CODED, Claim, Holds, held, same
from qidsql.core.budget import check_time
from qidsql.core.copies import Script, names_a_file, written_file
from qidsql.core.results import Verdict
from qidsql.core.tables import Column, Nulls, Table
from qidsql.engines.base import Engine
from qidsql.errors import UnknownName, UsageError
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.by_value import ByValue
from qidsql.profiling.profiler import TableProfiler
from qidsql.protection.anonymization.anonymizer import write_shares
from qidsql.protection.certificates import BoundProof, ProvedBy
from qidsql.protection.copies import GivenBack, KeptColumns
from qidsql.protection.row_patterns import Records, RowPatterns
from qidsql.protection.suppression.combinations import divided_plan
from qidsql.protection.suppression.known_people import known_people
from qidsql.protection.suppression.plan import BY_ROWS
from qidsql.protection.suppression.values_lost import values_lost
from qidsql.protection.suppression.verification import rows_below_k
from qidsql.sql.masks import people_and_rows
from qidsql.sql.relation import Relation, relation, rows_node
from qidsql.wording.texts import count, few, plural, weighing

if TYPE_CHECKING:
    from qidsql.protection.certificate_check import Shares


# The written copy that a result names, as it is now.


@dataclass(frozen=True)
class WrittenCopy:
    """A copy in the source of its table, or the file beside it."""

    table: Table
    protection: TableProtection
    label: str

    @classmethod
    def of(cls, protection: TableProtection, protected: str | None, target: str | None) -> "WrittenCopy | None":
        """The copy, which has all protected columns; None if it has to be named. Raises UsageError."""
        wanted = protected or (None if names_a_file(target) else target)
        if wanted is None:
            return None
        engine = protection.engine
        copy = engine.describe_beside(None) if written_file(wanted) else engine.describe(wanted)
        if copy.name == protection.table.name:
            raise UsageError(f"{copy.name} is the table itself; --protected names its copy")
        try:
            copy.resolve(protection.names)
        except UnknownName as missing:
            raise UsageError(f"{copy.name} is no copy of {protection.table.name}: {missing}") from None
        return cls(copy, protection, engine.label_beside if written_file(wanted) else str(copy.name))

    def __str__(self) -> str:
        return self.label

    @property
    def node(self) -> exp.Expr:
        """The node to select its rows from, as they are."""
        return rows_node(self.table)

    @cached_property
    def other_types(self) -> list[str]:
        """The protected columns that have another type in the table."""
        return [own.name for own in self.protection.columns if own.type != self.table.column(own.name).type]

    def rows(self, columns: Sequence[Column]) -> exp.Expr:
        """The node to select from, with columns of the table as the copy has them, compared as those of the table."""
        own = [replace(column, name=self.table.column(column.name).name) for column in columns]
        return relation(self.protection.engine.dialect, replace(self.table, columns=tuple(own)), own).node


PROOFS = {
    ProvedBy.ROWS: "by what each row must lose, whatever the others do",
    ProvedBy.PRICES: "by prices of the distinct rows",
    ProvedBy.PEOPLE: "by prices of people",
    ProvedBy.SOLVER: "it rests on the solver of integer programs",
}


class CellClaims:
    """The claims of one result. `rows` are those of the table, once they are coded."""

    def __init__(
        self,
        claimed: MatchingRows | IdenticalRows,
        protection: TableProtection,
        engine: Engine,
        protected: str | None,
        on_stage: Callable[[str], None],
    ) -> None:
        self._claimed, self._protection, self._engine, self._on_stage = claimed, protection, engine, on_stage
        self._protected = protected
        self._k = claimed.account.policy.k
        self._check = partial(check_time, protection.profiler.deadline)
        self.rows: int | None = None

    @property
    def rule(self) -> str:
        against = self._claimed.against if isinstance(self._claimed, MatchingRows) else "identical rows"
        return f"k = {self._k}, {against}"

    def checked(self) -> Iterator[Claim]:
        """Each claim, as soon as it is checked. Raises UsageError, Stopped, StatementError."""
        claimed = self._claimed
        if claimed.cost is None and claimed.verdict is not Verdict.VIOLATION:
            return
        self._protection.recognise(self._on_stage)
        yield of_columns(claimed, claimed.kept, self._protection)
        if self._protection.names != claimed.account.columns:
            return
        self._on_stage("coding the rows")
        with RowPatterns.of(self._profiler) as patterns:
            self.rows = patterns.rows
            figures: dict[str, tuple[object, object]] = {"rows": (claimed.account.rows, patterns.rows)}
            if isinstance(claimed, MatchingRows):
                figures["k"] = claimed.k, self._k
            yield self._same("it is about all rows of the table", figures)
            if claimed.cost is None:
                few_rows = held(0 < patterns.rows < self._k)
                yield Claim("no suppression helps", few_rows, f"there are {plural(patterns.rows, 'row')}")
                return
            records, key = patterns.records(), patterns.shuffle_key
            yield from self._of_plan(patterns, records, key)
            yield from self._of_bound(records)

    @property
    def _profiler(self) -> TableProfiler:
        return self._protection.profiler

    def _of_plan(self, patterns: RowPatterns, records: Records, shuffle_key: str) -> Iterator[Claim]:
        from qidsql.protection.certificate_check import Shares

        claimed = self._claimed
        if claimed.account.engine.split()[:1] != self._engine.version.split()[:1]:
            how = f"its rows are numbered as {claimed.account.engine} does"
            yield Claim("the plan is one for these rows", Holds.UNKNOWN, how)
            return
        if claimed.plan is None:
            yield Claim("the plan is one for these rows", Holds.UNKNOWN, "it was too large to list")
            return
        shares = Shares.of(claimed.plan, records, patterns.names)
        if shares is None:
            yield Claim("the plan is one for these rows", Holds.NO, "it names other rows or columns")
            return
        self._on_stage("carrying out the plan")
        if isinstance(claimed, MatchingRows):
            yield from self._of_suppression(claimed, patterns, shares)
        else:
            yield from self._of_anonymization(claimed, records, shares)
        if claimed.sql is not None or claimed.script:
            yield from self._of_script(patterns, shares)
        yield from self._of_copy(records, shares, shuffle_key)

    def _of_script(self, patterns: RowPatterns, shares: "Shares") -> Iterator[Claim]:
        """Statements instead of a copy."""
        claimed, printed = self._claimed, None
        if claimed.sql is not None:
            with suppress(UsageError):  # there are none of this kind
                printed = self._printed(claimed.sql, patterns, shares)
        right = printed is not None and claimed.script == printed.statements
        yield Claim("its statements carry out the plan", held(right), "printed anew for this plan")
        if printed is not None:
            found = printed.given_back(self._protection, self._blank(shares), self._profiler.deadline)
            yield self._of_given_back(found)

    def _printed(self, kind: Script, patterns: RowPatterns, shares: "Shares") -> Printed:
        if isinstance(self._claimed, MatchingRows):
            masks = set(shares.mask.tolist())
            return suppressing(self._engine, self._protection, masks, self._k, kind)
        everything = (1 << len(patterns.names)) - 1
        write_shares(patterns.bench, shares.record, everything ^ shares.mask, shares.rows)
        return anonymizing(self._engine, self._protection, patterns, kind)

    def _blank(self, shares: "Shares") -> dict[str, int]:
        """The cells that each column loses."""
        names = self._profiler.names
        return dict(zip(names, shares.lost(len(names)), strict=True))

    def _of_given_back(self, found: tuple[GivenBack, ...]) -> Claim:
        """`found` are the cells that unprotected columns give back, counted anew."""
        figures = {"given_back": (self._claimed.given_back, found)}
        return same("so many cells are given back by other columns", figures, "counted in the table and the copy")

    def _of_suppression(self, claimed: MatchingRows, patterns: RowPatterns, shares: "Shares") -> Iterator[Claim]:
        deadline, names = self._profiler.deadline, patterns.names
        values, weights = patterns.values, self._protection.weights
        found = shares.lost_cells(len(names))
        plan = divided_plan(patterns, self._k, weights, found, "", 0, deadline)
        lost = values_lost(plan, 1, deadline)
        figures = {
            "cost": (claimed.cost, plan.weight),
            "cells": (claimed.cells, plan.cells),
            "records": (claimed.records, plan.records),
            "by_cells": (claimed.by_cells, plan.by_cells),
            "masks": (claimed.masks, len(plan.masks)),
            "losses": (
                tuple((each.name, each.weight, each.cells) for each in claimed.losses),
                tuple(zip(names, weights, plan.by_column, strict=True)),
            ),
            "values lost": (
                tuple((each.values, each.values_touched, each.values_gone) for each in claimed.losses),
                tuple((number, each.values, each.gone) for number, each in zip(values, lost, strict=True)),
            ),
        }
        yield self._same("its figures are those of the plan", figures)
        few = rows_below_k(plan, deadline)
        rule = f"each row then matches {plural(self._k - 1, 'other')}"
        yield Claim(rule, held(few == 0 and claimed.rows_below_k in (None, 0)), f"counted {CODED}")
        if claimed.known is None and claimed.against is Attack.RELEASED_ROWS:
            return
        self._on_stage("counting people whom the rows single out")
        known = known_people(plan, deadline)
        if known is None or (claimed.against is Attack.KNOWN_PERSON and known.admissible_below_k is None):
            yield Claim("whom the rows single out", Holds.UNKNOWN, "too many pairs of people and rows to count")
            return
        yield self._same("whom the rows single out", {"known": (claimed.known, known)})
        if claimed.against is Attack.KNOWN_PERSON:
            safe = not (known.below_k or known.rows_below_k or known.admissible_below_k)
            yield Claim(f"{self._k} released rows can be each person's", held(safe), f"counted {CODED}")
        if claimed.against is Attack.UNIQUE_COMBINATIONS:
            safe = not (known.shown_below_k or known.rows_below_k)
            rule = f"{plural(self._k, 'row')} show each combination of values that a row shows"
            yield Claim(rule, held(safe), f"counted {CODED}")

    def _of_anonymization(self, claimed: IdenticalRows, records: Records, shares: "Shares") -> Iterator[Claim]:
        names, lost = self._profiler.names, shares.lost(records.columns)
        everything = (1 << records.columns) - 1
        cost = sum(weight * cells for weight, cells in zip(self._protection.weights, lost, strict=True))
        figures = {
            "cost": (claimed.cost, cost),
            "cells": (claimed.cells, sum(lost)),
            "by_column": (claimed.by_column, dict(zip(names, lost, strict=True))),
            "rows_touched": (claimed.rows_touched, int(shares.rows[shares.mask != 0].sum())),
            "rows_blank": (claimed.rows_blank, int(shares.rows[shares.mask == everything].sum())),
            "row_patterns": (claimed.row_patterns, records.count),
        }
        yield self._same("its figures are those of the plan", figures)
        smallest = shares.smallest_class(records)
        rule = f"each row is then identical to {plural(self._k - 1, 'other')}"
        yield Claim(rule, held(smallest >= self._k), f"counted {CODED}: at least {count(smallest)} rows are identical")

    # the bound

    def _of_bound(self, records: Records) -> Iterator[Claim]:
        from qidsql.protection.certificate_check import proved_bound

        claimed = self._claimed
        bound, proof = claimed.lower_bound, claimed.proof
        if bound is None:
            return
        assert claimed.cost is not None
        as_this = ", as this one" if claimed.optimal else ""
        claim = f"{self._kind} loses at least {weighing(bound, self._protection.weights, 'cell')}{as_this}"
        if bound > claimed.cost:
            yield Claim(claim, Holds.NO, "the plan itself weighs less")
            return
        if bound == 0:
            yield Claim(claim, Holds.YES, "nothing weighs less")
            return
        if proof is None or not self._applies(proof, records):
            yield Claim(claim, Holds.UNKNOWN, "the result does not show it")
            return
        self._on_stage("computing the bound")
        solver = proof.by is ProvedBy.SOLVER
        found = proved_bound(
            BY_ROWS if solver else proof,  # what a solver says cannot be computed anew, but a part of it
            records,
            self._k,
            self._protection.weights,
            wildcard=self._claimed.account.policy.nulls == Nulls.WILDCARD or (self._combinations and records.has_null),
            null_shows=isinstance(claimed, IdenticalRows),
            check=self._check,
        )
        if found is None:
            why = PROOFS[proof.by] if solver else "prices of other rows, or too much to compute anew"
            yield Claim(claim, Holds.UNKNOWN, why)
        elif found >= bound:
            yield Claim(claim, Holds.YES, f"{PROOFS[BY_ROWS.by if solver else proof.by]}, computed anew {CODED}")
        elif solver:
            yield Claim(claim, Holds.UNKNOWN, f"{PROOFS[proof.by]}; without it {count(found)} is proved")
        else:
            exact = isinstance(claimed, MatchingRows) and proof.by is ProvedBy.ROWS and self._alone
            how = f"{PROOFS[proof.by]}, no more than {count(found)} follows"
            yield Claim(claim, Holds.NO if exact else Holds.UNKNOWN, how)

    @property
    def _alone(self) -> bool:
        """Whether the bound is of plans in which each row is safe by its own suppressed cells."""
        return isinstance(self._claimed, MatchingRows) and self._claimed.against is Attack.RELEASED_ROWS

    @property
    def _combinations(self) -> bool:
        return isinstance(self._claimed, MatchingRows) and self._claimed.against is Attack.UNIQUE_COMBINATIONS

    @property
    def _kind(self) -> str:
        if isinstance(self._claimed, IdenticalRows):
            return "every anonymization"
        if self._alone:
            return "every plan in which each row is safe by its own cells"
        if self._combinations:
            return f"every plan that leaves no combination to fewer than {self._k} rows"
        return f"every plan with {self._k} disjoint matchings"

    def _applies(self, proof: BoundProof, records: Records) -> bool:
        """Whether such a proof is one of this kind of bound."""
        claimed = self._claimed
        if isinstance(claimed, IdenticalRows):
            return True
        if self._alone:
            return proof.by is ProvedBy.ROWS and claimed.method is CellsMethod.OPTIMAL
        if self._combinations:  # a row that is safe in such a plan is safe on its own
            return proof.by is ProvedBy.ROWS
        by_rows = proof.by is ProvedBy.ROWS and not records.has_null  # a row that shows NULL fits more people
        return by_rows or proof.by is ProvedBy.PEOPLE

    # the copy

    def _of_copy(self, records: Records, shares: "Shares", shuffle_key: str) -> Iterator[Claim]:
        claimed = self._claimed
        if self._protected is None and claimed.target is None:
            return
        copy = WrittenCopy.of(self._protection, self._protected, claimed.target)
        if copy is None:
            how = "name it with --protected, a table of the same source or a file"
            yield Claim(self._copied(claimed.target), Holds.UNKNOWN, how)
            return
        name, other_types = str(copy), copy.other_types
        written = Relation(copy.rows(self._protection.columns))
        self._on_stage(f"comparing {name} with the table")
        names = self._profiler.names
        sides = ((each.node, each.columns(names)) for each in (self._profiler.source, written))
        both = ByValue(self._engine, *people_and_rows(*sides), self._k)
        with RowPatterns.of(both, shuffle_key) as patterns:
            *codes, released = patterns.records().codes
            sizes = patterns.records().sizes[released == 1]
            rows = _counted([each[released == 1] for each in codes], sizes)
        planned = _counted(shares.released(records), shares.rows)
        claim = self._copied(name)
        if rows == planned or not other_types:
            yield Claim(claim, held(rows == planned), f"both coded alike: {plural(sum(rows.values()), 'row')}")
        else:
            yield Claim(claim, Holds.UNKNOWN, f"the types differ: {few(other_types)}")
        if claimed.copied:
            columns = {"columns": (sorted(claimed.copied), sorted(column.name for column in copy.table.columns))}
            yield same(f"{name} has the columns that were copied, and no others", columns, "by the catalog")
            given_back = self._protection.given_back
            yield self._of_given_back(given_back(copy.rows, self._blank(shares), None))
        if isinstance(claimed, IdenticalRows):
            profiler = ByValue(self._engine, written, names, self._k)
            after = profiler.profile(profiler.everything)
            yield self._after(claimed.after, after, name)

    def _copied(self, name: str | None) -> str:
        columns = plural(len(self._profiler.names), "protected column")
        return f"{name} is the table with these cells blank, and otherwise unchanged in the {columns}"

    def _after(self, claimed: ClassProfile | None, after: ClassProfile, name: str) -> Claim:
        same = claimed in (None, after) and after.smallest >= self._k
        return Claim(f"{name} is {self._k}-anonymous", held(same), f"measured: {count(after.smallest)}-anonymous")

    def _same(self, claim: str, figures: Mapping[str, tuple[object, object]]) -> Claim:
        return same(claim, figures, f"counted {CODED}")


def of_columns(
    claimed: MatchingRows | IdenticalRows | ProtectResult, kept: KeptColumns, protection: TableProtection
) -> Claim:
    """The columns that follow from the policy, and, where it does not name them, from their values."""
    copied = tuple(column.name for column in protection.copied) if claimed.target is not None else ()
    figures = {
        "protected": (claimed.account.columns, protection.names),
        "left_out": (claimed.account.left_out, protection.account(None, ()).left_out),
        "copied": (claimed.copied, copied),
        "not_copied": (claimed.not_copied, protection.not_copied),
        "kept": (kept, protection.kept or None),
    }
    return same("its columns are those that the policy protects, and copies", figures, "by their roles and values")


def _counted(codes: Any, rows: Any) -> Counter[tuple[int, ...]]:
    """The number of rows of each line of codes."""
    found: Counter[tuple[int, ...]] = Counter()
    for line, number in zip(zip(*(each.tolist() for each in codes), strict=True), rows.tolist(), strict=True):
        found[line] += number
    return found
