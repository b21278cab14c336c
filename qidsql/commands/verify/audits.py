"""The claims of audit: the figures behind its verdict are measured again, and each list of column sets proves itself.

Every criterion is monotone. So a list of the minimal sets that meet it is complete if the largest sets that contain
none of them miss it: every other set contains a listed one, or is part of one of these.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from math import comb
from pathlib import Path

from sqlglot import exp

from qidsql.commands.audit.command import (
    AuditRequest,
    AuditResult,
    BlankCells,
    CoarserColumns,
    SearchFinding,
    unmeasured,
)
from qidsql.commands.audit.facts import AuditFacts, AuditWork, facts_after
from qidsql.commands.audit.figures import estimate_by, findings_of, measuring, overview_of
from qidsql.commands.audit.remedies import Node, WhatIf
from qidsql.commands.audit.verdict import assumptions, judged, obstacles
from qidsql.commands.table_search import TableSearch
from qidsql.commands.verify.column_sets import checked_masks, how_many_sets
from qidsql.commands.verify.command import Claim, Holds, held, same
from qidsql.core.tables import positions
from qidsql.generalization.declared import declared_hierarchies
from qidsql.generalization.hierarchies import Codes, hierarchies_of
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile
from qidsql.profiling.by_value import ByValue
from qidsql.profiling.disclosing import disclosing
from qidsql.profiling.known_rows import linking
from qidsql.profiling.profiler import TableProfiler
from qidsql.protection.copies import rows_of_query
from qidsql.search.hitting_sets import MinimalHittingSets, hits_all, minimal_masks, minimum_hitting_set
from qidsql.sql.judged_classes import ClassRule
from qidsql.sql.relation import Relation
from qidsql.wording.texts import count, plural, setting

AUDITED = "the audited"  # columns, in messages
MOST_SETS_PROVED = 500  # column sets that are measured to prove one list
OF_COLUMN = ("type", "role", "reason", "nulls", "profile", "varying", "recognised", "proposed")
OF_TABLE = ("profile", "profile_with_proposed", "estimate", "class_sizes", "histories", "disclosed")


class AuditClaims:
    """The claims of one result of audit. `rows` are those of the table, once they are counted."""

    def __init__(
        self, claimed: AuditResult, asked: AuditRequest, search: TableSearch, on_stage: Callable[[str], None]
    ) -> None:
        self._claimed, self._asked, self._search, self._on_stage = claimed, asked, search, on_stage
        self._policy = asked.policy
        self._ended_early = bool(claimed.account.unfinished)
        self.rows: int | None = None

    @property
    def rule(self) -> str:
        return "; ".join(criterion.name for criterion in self._policy.criteria)

    def checked(self) -> Iterator[Claim]:
        """Each claim, as soon as it is checked. Raises UsageError, Stopped, StatementError."""
        claimed, search = self._claimed, self._search
        search.begin()
        facts = AuditFacts(search.table, findings_of(search.resolved))
        try:
            for found in self._measured(facts):
                facts = found
        finally:
            self.rows = facts.rows
        yield from self._of_columns(facts)
        yield self._of_table(facts)
        yield self._of_verdict(facts)
        if not facts.fails(self._policy):
            blamed = claimed.column_sets or claimed.searches or claimed.withheld or claimed.least_withheld
            if blamed:
                yield Claim("column sets are to blame", Holds.NO, "the policy is not violated by the audited columns")
            return
        audited, limited = facts.audited, facts.limited
        assert audited is not None and limited is not None
        asked_for = {each.name: each for each in self._policy.explaining}
        searched = [each.criterion for each in claimed.searches]
        expected = list(asked_for)[: len(searched) if self._ended_early else None]
        if searched != expected or not {each.criterion for each in claimed.column_sets} <= set(searched):
            yield Claim("its lists are those that the policy asks for", Holds.NO, "one is missing, or of another kind")
            return
        for each in claimed.searches:
            criterion = asked_for[each.criterion]
            profiler = linking(disclosing(audited, search.table, [criterion]), criterion.linked, facts.histories)
            yield from _List(claimed, each, criterion, profiler).checked(self._on_stage)
        audited, limited = (linking(each, self._policy.below_k.linked, facts.histories) for each in (audited, limited))
        yield from self._of_remedies(audited, limited, facts.unnamed)

    def _measured(self, facts: AuditFacts) -> Iterator[AuditFacts]:
        """What the verdict rests on, by the stages of audit. Raises Stopped, StatementError."""
        search, estimate = self._search, self._claimed.estimate
        work = AuditWork(self._asked, search.table, search.resolved, search.profiler, self._on_stage)
        if estimate is None:
            return facts_after(measuring(self._policy), work, facts)
        return estimate_by(estimate.share, overview_of(search.profiler, self._policy), work, facts)

    def _of_columns(self, facts: AuditFacts) -> Iterator[Claim]:
        stated, found = self._claimed.columns, facts.columns
        names = [each.name for each in stated]
        new = [each.name for each in found if each.name not in names]
        same_names = names == [each.name for each in found if each.name not in new]
        how = "named in the catalog" + (f"; new since: {', '.join(new)}" if new else "")
        yield Claim(
            "its columns are those of the table", Holds.UNKNOWN if same_names and new else held(same_names), how
        )
        by_name = {each.name: each for each in found}
        figures = {
            f"{key} of {each.name}": (getattr(each, key), getattr(by_name[each.name], key))
            for each in stated
            if each.name in by_name and not (self._ended_early and each.profile is None)
            for key in OF_COLUMN
        }
        yield same("their roles and figures are right", figures, "each measured alone")

    def _of_table(self, facts: AuditFacts) -> Claim:
        claimed = self._claimed
        entities = next((each.profile.rows for each in facts.columns if each.profile), None)
        figures: dict[str, tuple[object, object]] = {
            "rows": (claimed.account.rows, facts.rows),
            "entities": (claimed.entities, entities if self._policy.entity else None),
            **{name: (getattr(claimed, name), getattr(facts, name)) for name in OF_TABLE},
            "persons": (claimed.persons, facts.persons or None),
            "numbers_of_rows": (claimed.numbers_of_rows, facts.numbers),
            "unicity": (claimed.unicity, facts.unicity or None),
            "resolutions": (claimed.resolutions, facts.resolutions or None),
        }
        if self._ended_early:
            figures = {name: each for name, each in figures.items() if each[0] not in (None, ())}
            if "disclosed" in figures:
                figures["disclosed"] = claimed.disclosed, facts.disclosed[: len(claimed.disclosed)]
            if "unicity" in figures:
                figures["unicity"] = claimed.unicity, facts.unicity[: len(claimed.unicity or ())]
        return same("the figures of the table are right", figures, "all audited columns measured together")

    def _of_verdict(self, facts: AuditFacts) -> Claim:
        """The verdict that follows from the figures as they are stated, which are compared on their own."""
        claimed = self._claimed
        anew = judged(claimed, facts.unnamed)
        figures = {
            "verdict": (claimed.verdict, anew.verdict),
            "reason": (claimed.reason, anew.reason),
            "assumptions": (claimed.assumptions, assumptions(self._policy, claimed.columns, anew.verdict)),
        }
        return same("its verdict follows", figures, "derived from these figures and the policy")

    def _of_remedies(self, audited: TableProfiler, limited: TableProfiler, unnamed: int | None) -> Iterator[Claim]:
        claimed = self._claimed
        everything = audited.everything
        alone = [each for each in claimed.columns if each.without is not None]
        withheld = [*([each.name] for each in alone), *(each.columns for each in claimed.withheld)]
        rests = [everything ^ mask for mask in checked_masks(audited.names, withheld, AUDITED)]
        if rests:
            self._on_stage(f"measuring the table without {plural(len(rests), 'column set')}")
            profiles = limited.profiles(rests)
            stated = [*(each.without for each in alone), *(each.profile for each in claimed.withheld)]
            together = profiles[len(alone) :]
            left = [obstacles(self._policy, profile, claimed.columns, unnamed) for profile in together]
            figures = {
                "profiles": (stated, profiles),
                "still": ([each.still for each in claimed.withheld], left),
                "passes": ([each.passes for each in claimed.withheld], [not still for still in left]),
            }
            yield same("the effects of withholding columns are right", figures, f"{how_many_sets(rests)} measured")
        if claimed.least_withheld is not None:
            yield self._of_least(claimed.least_withheld.columns, claimed.least_withheld.at_least, audited)
        if claimed.coarser or claimed.blanked:
            yield self._of_what_if(claimed.coarser or (), claimed.blanked or (), audited)

    def _of_what_if(
        self, coarser: Sequence[CoarserColumns], blanked: Sequence[BlankCells], audited: TableProfiler
    ) -> Claim:
        """The coarser columns, by labels and by codes, and the blank cells."""
        claim, columns = "the effects of coarser columns and of blank cells are right", self._claimed.columns
        checked_masks(
            audited.names, [*(each.columns for each in coarser), *(each.columns for each in blanked)], AUDITED
        )
        if why := unmeasured(self._policy, audited.columns, self.rows or 0):
            return Claim(claim, Holds.NO, f"they are not measured {why}")
        self._on_stage("measuring coarser values")
        leveled = [name for each in coarser for name in each.columns]
        place = None if self._claimed.hierarchies is None else Path(self._claimed.hierarchies)
        what_if = WhatIf(audited, self._search.table, self._policy, leveled, place)
        nodes = [tuple(zip(each.columns, each.levels, strict=False)) for each in coarser]
        if not all(0 < level < what_if.height(name) for node in nodes for name, level in node):
            return Claim(claim, Holds.NO, "a column has other levels")
        whole = audited.profile(audited.everything)
        options, blank = what_if.measured(whole, columns, nodes, [each.columns for each in blanked])
        options = [what_if.with_limits(each, columns) for each in options]
        blank = [what_if.with_limits(each, columns) for each in blank]
        by_labels = [self._of_labels(audited, each) for each in self._labelled(audited, nodes, place)]
        figures: dict[str, tuple[object, object]] = {
            "coarser": (list(coarser), options),
            "blank": (list(blanked), blank),
            "classes by labels": ([replace(each.profile, disclosing=()) for each in coarser], by_labels),
        }
        return same(claim, figures, "counted by labels and by numbers")

    def _labelled(self, audited: TableProfiler, nodes: Sequence[Node], place: Path | None) -> Iterator[exp.Query]:
        """The queries for the rows with columns at levels, by labels."""
        engine, table, names = audited.engine, self._search.table, audited.names
        columns = table.resolve(names)
        declared = {} if place is None else declared_hierarchies(engine, audited.ask, table, columns, place)
        leveled = {name for node in nodes for name, _ in node}
        known = {name: each for name, each in declared.items() if name in leveled}
        codes = Codes(
            engine.dialect, table, hierarchies_of(audited.ask, engine.dialect, table, columns, known, leveled)
        )
        for node in nodes:
            yield codes.copy([dict(node).get(name, 0) for name in names], ClassRule(0), columns)

    def _of_labels(self, audited: TableProfiler, rows: exp.Query) -> ClassProfile:
        """The classes of rows with columns at levels, counted by their labels, without codes."""
        columns = self._search.table.resolve(audited.names)
        source = Relation(rows_of_query(audited.engine.dialect, rows, columns))
        profiler = ByValue(audited.engine, source, audited.names, self._policy.k)
        return profiler.profile(profiler.everything)

    def _of_least(self, columns: Sequence[str], at_least: int, audited: TableProfiler) -> Claim:
        """A choice of columns that leaves no set below k, and how few such a choice can be, which the list shows."""
        criterion = self._policy.below_k
        sets = [each.columns for each in self._claimed.column_sets if each.criterion == criterion.name]
        *listed, chosen = checked_masks(audited.names, [*sets, columns], AUDITED)
        fewest = minimum_hitting_set(listed, [1] * audited.columns, tick=audited.check_time)
        rest = audited.everything ^ chosen
        right = hits_all(chosen, listed) and len(columns) == at_least == fewest.lower_bound
        right = right and (not rest or not criterion.met_by(audited.profile(rest)))
        claim = f"{plural(at_least, 'column')} at least must be withheld, and these suffice"
        return Claim(claim, held(right), "by the listed sets, each of which loses a column; the others measured")


class _List:
    """The claims about one list of minimal column sets."""

    def __init__(
        self, claimed: AuditResult, searched: SearchFinding, criterion: Criterion, profiler: TableProfiler
    ) -> None:
        self._searched, self._criterion, self._profiler = searched, criterion, profiler
        self._max_size = claimed.account.policy.max_size
        self._found = claimed.found_by(searched)
        self._listed = checked_masks(profiler.names, [each.columns for each in self._found], AUDITED)

    def checked(self, on_stage: Callable[[str], None]) -> Iterator[Claim]:
        searched, criterion, profiler = self._searched, self._criterion, self._profiler
        on_stage(f"measuring {plural(len(self._listed), 'listed set')} ({criterion.name})")
        whole = profiler.profile(profiler.everything)
        everywhere = searched.complete_to_size == profiler.columns
        upto = everywhere if searched.complete else searched.complete_to_size <= profiler.columns
        states = {"unfinished": (self._unfinished(), True), "complete_to_size": (upto, True)}
        if not criterion.met_by(whole):
            states["impossible"] = searched.impossible == criterion.impossible(whole), True
            states["complete"] = searched.complete, True
        else:
            states["impossible"] = not searched.impossible, True
        yield same(f"the list ({criterion.name}) states how far it is complete", states, "compared with each other")
        profiles = profiler.profiles(self._listed)
        figures = {
            "profiles": ([each.profile for each in self._found], profiles),
            "that meet it": (len(profiles), sum(map(criterion.met_by, profiles))),
            "that contain no other": (len(self._listed), len(minimal_masks(self._listed))),
        }
        yield same(
            f"each listed set is a {criterion.name}, with these figures",
            figures,
            f"{how_many_sets(self._listed)} measured",
        )
        size = profiler.columns if searched.complete else searched.complete_to_size
        rests = [mask ^ 1 << place for mask in self._listed if mask.bit_count() > size + 1 for place in positions(mask)]
        if rests:
            missed = not any(map(criterion.met_by, profiler.profiles(list(dict.fromkeys(rests)))))
            claim = f"none of more than {plural(size + 1, 'column')} has a superfluous one"
            yield Claim(claim, held(missed), "measured without each of its columns")
        if size:
            on_stage(f"measuring the largest sets that contain none of them ({criterion.name})")
            yield self._complete(size)

    def _unfinished(self) -> bool:
        """Whether the reason why the list is not complete says so much."""
        searched = self._searched
        if searched.complete:
            return not searched.unfinished
        upto = f"complete up to {plural(searched.complete_to_size, 'column')}"
        by_size = f"{upto} ({setting('max_size')} {self._max_size})"
        return searched.unfinished == by_size or searched.unfinished.startswith(f"{upto}: ")

    def _complete(self, size: int) -> Claim:
        """That no set of at most so many columns is missing in the list, or part of a listed one and enough."""
        profiler, criterion = self._profiler, self._criterion
        upto = "" if size >= profiler.columns else f" of at most {plural(size, 'column')}"
        claim = f"each {criterion.name}{upto} contains a listed set, and none of these a smaller one"
        if not self._listed:
            claim = f"there is no {criterion.name}{upto}"
        sets = MinimalHittingSets(self._listed, tick=profiler.check_time)
        largest = [profiler.everything ^ mask for mask in islice(sets, MOST_SETS_PROVED + 1)]
        if len(largest) > MOST_SETS_PROVED:
            return Claim(claim, Holds.UNKNOWN, f"more than {count(MOST_SETS_PROVED)} sets would have to be measured")
        largest = [mask for mask in largest if mask]
        meets = self._which_meet(largest)
        if any(mask.bit_count() <= size for mask in meets):
            return Claim(claim, Holds.NO, "by a column set that contains none, measured")
        if sum(comb(mask.bit_count(), size) for mask in meets) > MOST_SETS_PROVED:
            return Claim(
                claim, Holds.UNKNOWN, f"more than {count(MOST_SETS_PROVED)} sets of that size would have to be measured"
            )
        parts = {sum(1 << each for each in part) for mask in meets for part in combinations(positions(mask), size)}
        failing = [mask for mask in largest if mask not in meets]
        left = [part for part in sorted(parts) if not any(part & mask == part for mask in failing)]
        if self._which_meet(left):
            return Claim(claim, Holds.NO, "by a column set that contains none, measured")
        measured = how_many_sets([*failing, *left])
        how = f"{measured} measured, which miss it: every other contains a listed one or is part of them"
        return Claim(claim, Holds.YES, how)

    def _which_meet(self, masks: Sequence[int]) -> list[int]:
        profiles = self._profiler.profiles(masks)
        return [mask for mask, profile in zip(masks, profiles, strict=True) if self._criterion.met_by(profile)]
