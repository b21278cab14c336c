"""The result of `protect`."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

from qidsql.commands.protect.way import Way, nobody_found
from qidsql.core.copies import Script
from qidsql.core.results import LeftOut, Result, SearchAccount, Verdict
from qidsql.declarations.results import FLAT, OMITTED, reported
from qidsql.generalization.local_recoding import LocalFigures
from qidsql.generalization.measures import Measure
from qidsql.measures.disclosure_limits import limits_among
from qidsql.measures.profiles import ClassProfile
from qidsql.protection.copies import CellsGivenBack, KeptColumns, in_the_headline, kept_in_the_headline
from qidsql.wording.texts import are, count, few, percent, plural


@dataclass(frozen=True, kw_only=True)
class PublishedColumn:
    """What becomes of a column."""

    name: str
    level: Annotated[int, "0: its values as they are"]
    height: Annotated[int, "the level on which all values are the same; 0: the column has one value"]
    becomes: Annotated[str, "the level in words"]
    hierarchy: Annotated[str, "where its levels are from: what declares them, or a proposal by its type and values"]
    levels: Annotated[tuple[str, ...], "between the values and nothing, the finest first"]
    values: Annotated[int, "distinct values before, of the hierarchy; NULL is one"]
    left: Annotated[int, "labels that these have at this level"]
    kept: Annotated[Fraction, "of the detail of the column, rows left out not charged"]


@dataclass(frozen=True, kw_only=True)
class NodeFigures:
    """What a choice of levels does."""

    levels: Annotated[tuple[int, ...], "of the columns, in their order"]
    rows_below_k: Annotated[int, "in classes below k or beyond a limit, which a copy leaves out"]
    kept: Annotated[Fraction | None, "of the detail (granularity), rows left out charged in full"] = None
    precision: Annotated[Fraction | None, "of the levels, rows left out not charged"] = None
    precision_charged: Annotated[Fraction | None, "of the levels, rows left out charged in full"] = None


@dataclass(frozen=True, kw_only=True)
class AskedLevels(NodeFigures):
    """What levels do that were asked for."""

    asked: str
    classes_below_k: Annotated[int, "unsafe combinations of values"]
    rows_beyond: Annotated[int, "of those that stay, in classes beyond a limit that all of them decide"] = 0
    cells_shown: Annotated[int, "of the rows below k, not withheld: to blank if the rows shall stay, or fewer"] = 0
    enough: Annotated[bool, "no more rows are in such classes than may be left out"]


@dataclass(frozen=True, kw_only=True)
class FrontierPoint:
    """What the same way keeps for one k."""

    k: int
    kept: Annotated[
        Fraction | None, "of the detail (granularity); null: there is no plan, or none was found in time"
    ] = None
    rows_left_out: int | None = None
    proved: Annotated[bool, "by levels: no choice of levels keeps more, by the measure"] = False


@dataclass(frozen=True, kw_only=True)
class UnsafeNode:
    """Levels that do not reach k, or exceed a limit."""

    levels: tuple[int, ...]
    rows_below_k: Annotated[int, "at least"]


@dataclass(frozen=True, kw_only=True)
class WayFound:
    """What a way keeps; nobody is found in the copy, not even by someone who knows everybody."""

    way: Way
    kept: Annotated[
        Fraction | None, "of the detail, withheld columns, blanked cells and rows left out charged in full"
    ] = None
    rows_left_out: int | None = None
    how: Annotated[str, "what changes, in words"] = ""
    proved: Annotated[bool, "no choice of this way keeps more, by its own measure"] = False
    reason: Annotated[str, "why there is no plan"] = ""
    impossible: Annotated[bool, "it was examined to its end: the table has no such plan"] = False
    unfinished: Annotated[bool, "its time was used up before it had a plan"] = False


@dataclass(frozen=True, kw_only=True, repr=False)
class ProtectResult(Result):
    """The levels at which each row equals k - 1 others, and what they keep."""

    account: Annotated[SearchAccount, FLAT]
    by: Annotated[Way | None, "null: the ways are compared"]
    measure: Measure
    suppress: Annotated[Fraction, "the share of the rows that may be left out"]
    hierarchies: Annotated[str | None, "the folder or file that declares those of some columns"]
    ways: Annotated[tuple[WayFound, ...], "compared, the one that keeps most first"] = ()
    turns: Annotated[tuple[AskedLevels, ...], "the choices of levels that were asked for"] = ()
    frontier: Annotated[tuple[FrontierPoint, ...], "what is kept against k"] = ()
    columns_published: tuple[PublishedColumn, ...] = ()
    recoded: Annotated[LocalFigures | None, "of --by values"] = None
    coarsest: Annotated[bool, "each cell is withheld: a budget ended before a finer plan was found"] = False
    rows_left_out: Annotated[
        int | None, "rows in classes below k or beyond a limit at these levels; null: none reach k"
    ] = None
    kept: Annotated[Fraction | None, "of the detail (granularity), rows left out charged in full"] = None
    precision: Annotated[Fraction | None, "of the levels, rows left out not charged"] = None
    precision_charged: Annotated[Fraction | None, "of the levels, rows left out charged in full"] = None
    bound: Annotated[Fraction | None, "no choice of levels, or no plan, keeps more, by the measure"] = None
    proved: Annotated[bool, "no choice of levels keeps more"] = False
    choices: Annotated[int | None, "of levels, in all"] = None
    measured: Annotated[int, "of them, asked; the others follow"] = 0
    unsafe: Annotated[
        tuple[UnsafeNode, ...],
        "the certificate: each choice that would keep more was asked, or is at or below one of these in every column",
    ] = ()
    after: Annotated[ClassProfile | None, "of the written copy, or of the rows that the statements make"] = None
    target: Annotated[str | None, "the copy that was written and kept"] = None
    copied: Annotated[tuple[str, ...], "its columns"] = ()
    not_copied: tuple[LeftOut, ...] = ()
    kept_columns: KeptColumns = None
    given_back: CellsGivenBack = None
    sql: Annotated[Script | None, OMITTED, "the statements that were requested instead of a copy"] = None
    script: Annotated[tuple[str, ...] | None, OMITTED, "they make the copy of the rows that are there then"] = None

    @property
    def asked(self) -> tuple[str, ...]:
        return (f"k = {self.account.policy.k}", plural(len(self.account.columns), "column"))

    @reported
    def kept_by_measure(self) -> Annotated[Fraction | None, "by the measure of the search"]:
        return self.kept if self.measure is Measure.LOSS else self.precision


def judged(result: ProtectResult) -> ProtectResult:
    """The result with its verdict and reason. It stays inconclusive if its work ended early."""
    if result.verdict is Verdict.INCONCLUSIVE and result.account.unfinished:
        if result.reason:  # that of the stop
            return replace(result, reason=f"{result.reason}; nothing was written")
        known = "" if result.rows_left_out is None else f"{_kept(result)}, as far as searched; "
        return replace(result, reason=f"{known}the work did not finish, and nothing was written")
    verdict, reason = _judged(result)
    return replace(result, verdict=verdict, reason=reason)


def _judged(result: ProtectResult) -> tuple[Verdict, str]:
    policy, rows = result.account.policy, result.account.rows or 0
    if not rows and (result.by is not None or result.account.rows == 0):  # None: no way that was compared counted them
        return Verdict.INCONCLUSIVE, f"there is nothing to protect: {policy.why_no_rows}"
    if result.by is None:
        return _judged_ways(result)
    if result.rows_left_out is None and result.turns:
        fewest = min(max(each.rows_below_k, each.rows_beyond) for each in result.turns)
        allowed = int(result.suppress * rows)
        least = "at least " if len(result.turns) > 1 else ""
        share = percent(Fraction(fewest, rows))
        beyond = " or beyond a limit" if limits_among(policy.criteria) else ""
        left = f"{least}{plural(fewest, 'row')} ({share}) {are(fewest)} below k{beyond}"
        return Verdict.VIOLATION, f"these levels do not reach k = {policy.k}: {left}, {count(allowed)} may be left out"
    if result.rows_left_out is None:
        few_rows = f"{plural(rows, 'row')} {are(rows)}"
        limited = bool(limits_among(policy.criteria))
        if limited and result.by is Way.LEVELS and result.suppress:
            few_out = f"with at most {percent(result.suppress)} of the rows left out"
            return Verdict.VIOLATION, f"no coarser values help: no choice of levels meets k and the limits, {few_out}"
        if policy.entity is not None:
            missed = " or all rows together miss a limit on what they disclose" if limited else ""
            fewer = f"{policy.entity} has fewer values than k = {policy.k}{missed}"
            return Verdict.VIOLATION, f"no coarser values help: {fewer}"
        if rows >= policy.k:
            return Verdict.VIOLATION, "no coarser values help: all rows together miss a limit on what they disclose"
        return Verdict.VIOLATION, f"no coarser values help: {few_rows} fewer than k = {policy.k}"
    if result.after is not None and result.target is None and not result.script:
        who = "person" if result.after.entities else "row"
        below = [f"{plural(result.after.rows_below_k, who)} below k"] if result.after.rows_below_k else []
        exceeding = [each.violation(result.after) for each in limits_among(policy.criteria) if result.after.disclosing]
        faults = "; ".join([*below, *exceeding]) or f"{plural(result.after.rows, who)}"
        return Verdict.VIOLATION, f"the copy failed its audit ({faults}), so it was not kept"
    written = "" if result.target is None else f"; {result.target} was written and passed its audit"
    given_back = in_the_headline(result.given_back)
    kept = kept_in_the_headline(result.copied, result.account.columns, policy.sensitive)
    return (
        Verdict.FINISHED,
        f"{nobody_found(result.account, result.target)}: {_kept(result)}{written}{kept}{given_back}",
    )


def _judged_ways(result: ProtectResult) -> tuple[Verdict, str]:
    best = next((each for each in result.ways if each.kept is not None), None)
    if best is None or best.kept is None:
        if any(each.impossible for each in result.ways):
            return Verdict.VIOLATION, "no way that was compared protects this table"
        return Verdict.INCONCLUSIVE, "no way that was compared came to an end: none is known to protect this table"
    if best.kept == 1 and not best.rows_left_out:
        others = [each.name for each in result.not_copied]
        without = f"; leave out {few(others)}" if others else ""
        found = f"nobody is found by {few(result.account.columns)}, not even by someone who knows everybody{without}"
        return Verdict.FINISHED, f"already {result.account.policy.k}-anonymous, nothing to do: {found}"
    without = f", with {plural(best.rows_left_out, 'row')} left out" if best.rows_left_out else ", with every row"
    kept = f"by {best.way} it keeps {percent(best.kept)} of the detail{without}"
    open_ = [str(each.way) for each in result.ways if each.kept is None and each.unfinished]
    more = f"; {few(open_)} did not finish in time and may keep more" if open_ else ""
    return Verdict.FINISHED, f"{nobody_found(result.account, result.target)}: {kept}{more}"


def _kept(result: ProtectResult) -> str:
    rows = result.account.rows or 1
    gone = result.rows_left_out or 0
    without = f"{plural(gone, 'row')} ({percent(Fraction(gone, rows))}) left out" if gone else "with every row"
    if result.coarsest:
        return "by the coarsest plan, which withholds each cell of them; a budget ended before a finer one was found"
    shown = result.kept if result.measure is Measure.LOSS else result.precision
    of = "the detail" if result.measure is Measure.LOSS else "the levels"
    if result.recoded is not None:
        return f"it keeps {percent(result.recoded.kept)} of the detail, {without}"
    if result.turns:
        return f"by {in_words(result)} it keeps {percent(shown or Fraction(0))} of {of}, {without}"
    proof = "proved: no choice of levels keeps more" if result.proved else _not_proved(result)
    return f"it keeps {percent(shown or Fraction(0))} of {of}, {without}; {proof}"


def _not_proved(result: ProtectResult) -> str:
    bound = "" if result.bound is None else f", no choice keeps more than {percent(result.bound)}"
    return f"not proved: another choice of levels may keep more{bound}"


def in_words(result: ProtectResult) -> str:
    """The levels of the columns that become coarser."""
    coarser = [f"{each.name} {_level(each.becomes)}" for each in result.columns_published if each.level]
    return few(coarser) if coarser else "all values as they are"


def _level(becomes: str) -> str:
    return becomes if becomes == "withheld" else f"as {becomes}"


def gone(result: ProtectResult) -> str:
    """The rows left out, for a fact."""
    rows = result.rows_left_out or 0
    return f"{count(rows)} of {count(result.account.rows or 0)} ({percent(Fraction(rows, result.account.rows or 1))})"
