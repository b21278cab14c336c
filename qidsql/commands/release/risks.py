"""The risks that thresholds are about: of whom they are, what was measured, and what is allowed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from qidsql.checklists.checklist import Checklist
from qidsql.commands.audit.command import AuditResult
from qidsql.commands.release.command import LineState, Measured, ReleaseRequest, StatedRisk
from qidsql.commands.release.measured import Linked
from qidsql.commands.risk.command import RiskRequest
from qidsql.commands.risk.risk import risk
from qidsql.core.options import fraction
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.errors import UsageError
from qidsql.sql.population import household_risks
from qidsql.sql.relation import relation
from qidsql.wording.texts import count, percent, plural, ratio

OFF = Fraction(1, 10**9)  # what a float of an engine may be off


@dataclass(frozen=True, slots=True)
class FoundRisk:
    """A risk and how it was found; None: it was not. `off`: what it may be off; None: it is an estimate."""

    value: Fraction | None
    words: str
    off: Fraction | None = Fraction(0)


NAMES: Mapping[str, str] = {
    "highest": "of whoever is in a smallest class and known to be among the rows",
    "average": "the share that somebody gets right who links every row and knows that each is there",
    "journalist": "of somebody found in a register that the policy names, at most",
    "marketer": "the share that linking every row with such a register gets right",
    "households": "that somebody of a household is recognised, at most",
    "population uniques": "the share of the population that nobody is like",
}


class Risks:
    """The risks of one release, each measured when it is asked for."""

    def __init__(
        self, engine: Engine, table: Table, request: ReleaseRequest, audit: AuditResult, linked: Callable[[], Linked]
    ) -> None:
        self._engine, self._table, self._request = engine, table, request
        self._audit, self._linked = audit, linked
        self._found: dict[str, FoundRisk] = {}

    def found(self, name: str) -> FoundRisk:
        """Raises BudgetSpent, Interrupted, UsageError."""
        if name not in self._found:
            self._found[name] = getattr(self, f"_{name.replace(' ', '_')}")()
        return self._found[name]

    def stated(self, lists: Sequence[Checklist]) -> tuple[StatedRisk, ...]:
        """All risks that were asked for or cost nothing, each with the smallest limit on it."""
        declared = self._request.declared
        attempt = fraction("attempt", declared.attempt or "1")
        k = self._audit.account.policy.k
        limits = {"highest": [(Fraction(1, k), f"1/{k}")]}
        for line in (line for each in lists for line in each.lines if line.most is not None):
            most, text = line.most or Fraction(0), line.limit or ""
            if line.check == "attacked" and attempt != 1:  # the risk in the data may be so much higher
                most, text = most / attempt, str(most / attempt)
            limits.setdefault("highest" if line.check == "attacked" else line.check, []).append((most, text))
        linked, people = bool(declared.linked), bool(declared.population)
        wanted = dict(zip(NAMES, (True, True, linked, linked, bool(declared.household), people), strict=True))
        names = [name for name in NAMES if name in limits or wanted[name]]
        return tuple(
            StatedRisk(name, NAMES[name], each.value, min(limits[name])[1] if name in limits else None, each.words)
            for name in names
            for each in [self.found(name)]
        )

    def _highest(self) -> FoundRisk:
        profile = self._audit.profile
        if profile is None or not profile.rows:
            return FoundRisk(None, "no class was measured")
        wildcard = ", if a NULL matches anything" if profile.wildcard else ""
        return FoundRisk(Fraction(1, profile.smallest), f"the smallest class has {count(profile.smallest)}{wildcard}")

    def _average(self) -> FoundRisk:
        profile = self._audit.profile
        if profile is None or profile.wildcard or not profile.rows:
            return FoundRisk(None, "no classes were counted")
        words = f"{plural(profile.classes, 'class', 'classes')} of {plural(profile.rows, 'row')}"
        return FoundRisk(Fraction(profile.classes, profile.rows), words)

    def _journalist(self) -> FoundRisk:
        linked = self._linked()
        return FoundRisk(linked.journalist, linked.measured.measured)

    def _marketer(self) -> FoundRisk:
        linked = self._linked()
        return FoundRisk(linked.marketer, linked.measured.measured)

    def _households(self) -> FoundRisk:
        name, columns = self._request.declared.household, self._columns()
        if not name:
            return FoundRisk(None, "the policy names no column of households (household in [release])")
        if name not in [each.name for each in self._table.columns]:
            return FoundRisk(None, f"the released bytes have no column {name}")
        if not columns or (self._audit.profile and self._audit.profile.wildcard):
            return FoundRisk(None, "no classes were counted")
        dialect, searched = self._engine.dialect, self._table.resolve([*columns, name])
        found = self._engine.run(household_risks(dialect, relation(dialect, self._table, searched), columns, name))
        if found.without or not found.rows:
            return FoundRisk(None, f"{count(found.without)} of {plural(found.rows, 'row')} without {name}")
        words = f"{plural(found.households, 'household')}, on average {found.expected_rows / found.rows:.4f}"
        return FoundRisk(Fraction(found.highest), words, OFF)

    def _population_uniques(self) -> FoundRisk:
        size, columns = self._request.declared.population, self._columns()
        if not size:
            return FoundRisk(None, "the policy names no size of the population (population in [release])")
        if not columns:
            return FoundRisk(None, "no classes were counted")
        request = RiskRequest(str(self._table.name), columns=columns, population_size=size)
        try:
            found = risk(self._engine, request).population
        except UsageError as error:
            return FoundRisk(None, str(error))
        if found is None or found.obstacle is not None or found.highest is None:
            alone = found is not None and not found.unique_rows
            none = "nobody is alone in a class of the released rows, so nobody of them is in the population"
            return (
                FoundRisk(Fraction(0), none)
                if alone
                else FoundRisk(None, (found and found.obstacle) or "not estimated")
            )
        tested = found.backtest.methods if found.backtest else ()
        worst = [abs(each.worst_error) for each in tested if each.worst_error is not None]
        off = "not tested on samples"
        if worst:
            most = max(worst)
            by = percent(Fraction(most)) if most < 1 else f"a factor of {count(ceil(1 + most))}"
            off = f"off by {by} at most on samples"
        words = f"at most {count(ceil(found.highest))} of {count(size)} as estimated, {off}"
        return FoundRisk(Fraction(found.highest) / size, words, None)

    def _columns(self) -> tuple[str, ...]:
        return tuple(each.name for each in self._audit.columns if each.audited)


def within_limit(found: FoundRisk, limit: Fraction, threshold: str) -> Measured:
    """Whether a risk is at most the limit. An estimate below it is for a person to say."""
    if found.value is None:
        return Measured(LineState.NOT_EXAMINED, found.words, threshold)
    measured = f"{ratio(min(found.value, Fraction(1)), 4)}: {found.words}"
    if found.value + (found.off or 0) > limit:
        return Measured(LineState.NOT_MET, measured, threshold)
    return Measured(LineState.PERSON if found.off is None else LineState.MET, measured, threshold)
