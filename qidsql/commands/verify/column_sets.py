"""The claims of keys and of protect by columns, checked by the column sets that the result lists.

Every criterion of a search is monotone: a column more never makes a set miss it. So sets that are known to miss it, or
to meet it, decide all their subsets or supersets, and a few measured sets prove a claim about all.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from qidsql.commands.keys.command import KeysRequest, KeysResult
from qidsql.commands.protect.columns.columns import publishing
from qidsql.commands.protect.columns.command import ColumnsRequest, ColumnsResult
from qidsql.commands.table_search import TableSearch
from qidsql.commands.uniques.command import Scores, UniquesResult
from qidsql.commands.uniques.uniques import FRACTION, keys_of
from qidsql.commands.verify.command import CODED, Claim, Holds, held, same
from qidsql.core.copies import names_a_file
from qidsql.core.options import Wanted
from qidsql.core.tables import Nulls, masks_of, positions, weight_of
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect
from qidsql.errors import AccessError, SourceError, UsageError
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile
from qidsql.protection.row_patterns import RowPatterns
from qidsql.search.hitting_sets import MinimalHittingSets, hits_all, minimal_masks, minimum_hitting_set
from qidsql.wording.texts import decimal, plural, weighing

if TYPE_CHECKING:
    from qidsql.protection.uniques.algorithms import UniquesByDefinition
    from qidsql.protection.uniques.minimal_uniques import UniqueCounts

# The column sets that a result names.


def checked_masks(names: Sequence[str], sets: Sequence[Sequence[str]], kind: str = "its") -> list[int]:
    """The sets as masks of these columns. Raises UsageError if one has another, none of columns of this kind."""
    masks = masks_of(sets, names)
    if len(masks) < len(sets):
        other = next(name for each in sets for name in each if name not in names)
        raise UsageError(f"the result names {other}, which is none of {kind} columns")
    return masks


def how_many_sets(masks: Sequence[int]) -> str:
    """How many, in words."""
    return plural(len(masks), "column set")


DOUBTFUL = 16  # sets that are measured where the proof leaves some open


class ColumnSetClaims:
    """The claims of one result. `rows` are those of the table, once they are measured."""

    def __init__(
        self,
        claimed: KeysResult | ColumnsResult,
        asked: KeysRequest | ColumnsRequest,
        search: TableSearch,
        engine: Engine,
        on_stage: Callable[[str], None],
    ) -> None:
        self._claimed, self._search, self._engine, self._on_stage = claimed, search, engine, on_stage
        self._k = asked.policy.k
        self.criterion = asked.criterion if isinstance(asked, KeysRequest) else asked.forbidden
        self.rows: int | None = None

    @property
    def rule(self) -> str:
        return self.criterion.name

    def checked(self) -> Iterator[Claim]:
        """Each claim, as soon as it is checked. Raises UsageError, Stopped, StatementError."""
        claimed, search = self._claimed, self._search
        if isinstance(claimed, ColumnsResult):
            search.confirm_rows(None, by_persons=True)
        else:
            search.confirm_persons()
        search.measure(self.criterion)
        self._on_stage("measuring all columns together")
        whole = search.profiler.profile(search.profiler.everything)
        self.rows = whole.rows
        self.criterion = self.criterion.of_whole(whole)
        if self.criterion.name != claimed.criterion and self.rows:
            raise UsageError("the result is about another criterion than its options ask for")
        facts = _Facts(search, self.criterion, whole, self._on_stage)
        yield self._of_whole(whole)
        if isinstance(claimed, KeysResult):
            yield from _of_keys(claimed, facts)
            return
        yield from _of_masking(claimed, facts)
        shown = claimed.algorithm != "none" and claimed.safe is not False
        printed = publishing(self._engine, search.table, claimed.published, claimed.view, claimed.role) if shown else ()
        if claimed.script or printed:
            right = held(claimed.script == printed)
            yield Claim("its statements publish these columns", right, "printed anew")

    def _of_whole(self, whole: ClassProfile) -> Claim:
        """The rows, or the entities, and the figures of all columns together."""
        claimed, account = self._claimed, self._claimed.account
        counted = account.rows if account.policy.entity is None else account.entities
        same = counted in (None, whole.rows) and account.policy.k == self._k
        same = same and claimed.options == self.criterion.options.strip()
        if isinstance(claimed, KeysResult):
            same = same and claimed.profile in (None, whole)
        return Claim("its figures of all columns are those of the table", held(same), "measured together")


class _Facts:
    """Column sets by their names, measured on the table."""

    def __init__(
        self, search: TableSearch, criterion: Criterion, whole: ClassProfile, on_stage: Callable[[str], None]
    ) -> None:
        self.profiler, self.weights, self.criterion, self.whole = search.profiler, search.weights, criterion, whole
        self._on_stage = on_stage

    def masks(self, sets: Sequence[Sequence[str]]) -> list[int]:
        """The sets as masks. Raises UsageError if one has a column that is not searched."""
        return checked_masks(self.profiler.names, sets)

    def profiles(self, masks: Sequence[int], which: str) -> list[ClassProfile]:
        self._on_stage(f"measuring {plural(len(masks), which)}")
        return self.profiler.profiles(masks)

    def which_meet(self, masks: Sequence[int], which: str) -> list[bool]:
        return [self.criterion.met_by(profile) for profile in self.profiles(masks, which)]

    @property
    def tick(self) -> Callable[[], None]:
        return self.profiler.check_time


def _of_keys(claimed: KeysResult, facts: _Facts) -> Iterator[Claim]:
    columns, known = facts.profiler.columns, claimed.complete_to_size
    if known > columns or (claimed.complete and not claimed.impossible and known != columns):
        how = f"there are {plural(columns, 'column')}"
        yield Claim("the list states how far it is complete", Holds.NO, how)
        return
    if claimed.impossible:
        missed = not facts.criterion.met_by(facts.whole) and claimed.impossible == facts.criterion.impossible(
            facts.whole
        )
        missed = missed and not claimed.column_sets and claimed.cost is claimed.lower_bound is None
        yield Claim("no column set meets the criterion", held(missed), "all columns together do not, measured")
        yield from _theorems(claimed)
        return
    found = facts.masks([each.columns for each in claimed.column_sets])
    yield from _found(claimed, found, facts)
    failing = [mask for mask in facts.masks(claimed.failing or ()) if mask]
    if any(facts.which_meet(failing, "set that misses the criterion")):
        yield Claim("the sets that prove the rest miss the criterion", Holds.NO, f"{how_many_sets(failing)} measured")
        return
    proof = f"by {how_many_sets(failing)}, measured, each of which misses the criterion"
    every = facts.profiler.everything
    others = minimal_masks([every, *(every ^ mask for mask in failing)], facts.tick)  # no set is empty
    if claimed.minimal:
        rests = [mask ^ 1 << place for mask in found for place in positions(mask) if mask != 1 << place]
        doubtful = [rest for rest in dict.fromkeys(rests) if hits_all(rest, others)]
        yield _unless_met(facts, "none of them has a superfluous column", doubtful, proof)
    if claimed.complete or claimed.complete_to_size:
        size = None if claimed.complete else claimed.complete_to_size
        upto = "" if claimed.complete else f" of at most {plural(claimed.complete_to_size, 'column')}"
        listed = {mask for mask, each in zip(found, claimed.column_sets, strict=True) if each.meets is not False}
        sets = MinimalHittingSets(others, size, (), facts.tick, minimal=True)
        doubtful = list(islice((mask for mask in sets if mask not in listed), DOUBTFUL))
        yield _unless_met(facts, f"no other minimal set{upto} meets the criterion", doubtful, proof)
    if claimed.lower_bound is not None:
        least = minimum_hitting_set(others, facts.weights, tick=facts.tick, minimal=True)
        doubtful = [least.mask] if least.lower_bound < claimed.lower_bound else []
        bound = (
            f"each set that meets the criterion has at least {weighing(claimed.lower_bound, facts.weights, 'column')}"
        )
        yield _unless_met(facts, bound, doubtful, proof)
    yield from _theorems(claimed)


def _found(claimed: KeysResult, found: Sequence[int], facts: _Facts) -> Iterator[Claim]:
    """The listed sets are measured, those of a sample as well."""
    profiles = facts.profiles(found, "listed set")
    pairs = list(zip(claimed.column_sets, profiles, strict=True))
    if any(each.meets is None for each, _ in pairs):
        certificate = claimed.certificate
        assert certificate is not None, "only a sample leaves a set unmeasured"
        met = all(facts.criterion.met_by(profile) for profile in profiles)
        chance = f"{certificate.promise}, but for a chance of {decimal(certificate.delta)}"
        yield Claim(chance, Holds.YES if met else Holds.UNKNOWN, "measured on the full table")
    elif pairs:
        right = all(facts.criterion.met_by(profile) is each.meets for each, profile in pairs)
        claim = "each listed set meets the criterion" + (
            "" if all(each.meets for each, _ in pairs) else ", or not, as stated"
        )
        yield Claim(claim, held(right), f"{how_many_sets(found)} measured")
        weights = [weight_of(mask, facts.weights) for mask in found]
        same = all(each.profile == profile for each, profile in pairs)
        same = same and weights == [each.weight for each in claimed.column_sets]
        same = same and claimed.cost in (None, weights[0]) and len(set(found)) == len(found)
        same = same and not (claimed.optimal and claimed.column_sets[0].meets is False)  # a set that misses weighs less
        yield Claim("their figures are those of the table", held(same), "measured")


def _theorems(claimed: KeysResult) -> Iterator[Claim]:
    """What rests on a theorem about the search, which no column sets of the result show."""
    certificate = claimed.certificate
    if certificate is not None and claimed.wanted is Wanted.ALL:
        chance = f"{certificate.promise}, but for a chance of {decimal(certificate.delta)}"
        yield Claim(chance, Holds.UNKNOWN, f"{certificate.theorem}; not shown by the result")
    if claimed.guarantee:
        yield Claim(f"the set weighs {claimed.guarantee}", Holds.UNKNOWN, "not shown by the result")


def _of_masking(claimed: ColumnsResult, facts: _Facts) -> Iterator[Claim]:
    published, withheld = facts.masks([claimed.published, claimed.withheld])
    if published:
        [profile] = facts.profiles([published], "published set")
        meets = facts.criterion.met_by(profile)
        if claimed.safe is not False:
            yield Claim("the published columns do not meet the criterion", held(not meets), "measured together")
        if claimed.profile is not None:
            yield Claim("their figures are those of the table", held(profile == claimed.profile), "measured")
    rest = held(withheld == facts.profiler.everything ^ published)
    yield Claim("all other columns are withheld", rest, "of the columns of the table")
    weight = weight_of(published, facts.weights)
    yield Claim(
        f"they have {weighing(claimed.weight, facts.weights, 'column')}", held(weight == claimed.weight), "added up"
    )
    if claimed.bound is None:
        return
    met = [mask for mask in facts.masks(claimed.quasi_identifiers or ()) if mask]
    if not all(facts.which_meet(met, "quasi-identifier")):
        yield Claim("the sets that prove the bound meet the criterion", Holds.NO, f"{how_many_sets(met)} measured")
        return
    singles = [1 << place for place in range(facts.profiler.columns)]
    met += [mask for mask, meets in zip(singles, facts.which_meet(singles, "column"), strict=True) if meets]
    least, total = minimum_hitting_set(met, facts.weights, tick=facts.tick), sum(facts.weights)
    claim = f"no choice publishes more than {weighing(claimed.bound, facts.weights, 'column')}"
    proof = f"by {how_many_sets(met)}, measured, each of which meets the criterion and so loses a column"
    if total - least.lower_bound <= claimed.bound:
        yield Claim(claim, Holds.YES, proof)
        return
    others = facts.profiler.everything ^ least.mask
    better = total - least.cost > claimed.bound and not facts.which_meet([others], "column set")[0]
    yield Claim(claim, Holds.NO if better else Holds.UNKNOWN, "by a choice that publishes more" if better else proof)


def _unless_met(facts: _Facts, claim: str, doubtful: Sequence[int], proof: str) -> Claim:
    """A claim that holds if none of the doubtful sets, which the proof does not exclude, meets the criterion."""
    if not doubtful:
        return Claim(claim, Holds.YES, proof)
    if any(facts.which_meet(doubtful, "set that is not excluded")):
        return Claim(claim, Holds.NO, "by a column set that does, measured")
    return Claim(claim, Holds.UNKNOWN, f"not {proof}: others are not excluded")


# The claims of uniques, checked on the codes of the rows: the combinations are counted anew by their definition.
#
# On each column set of up to the size that was searched, or, if those are too many, on the listed ones alone.


class CombinationClaims:
    """The claims of one result of uniques. `rows` are those of the table, once they are coded."""

    def __init__(
        self, claimed: UniquesResult, search: TableSearch, engine: Engine, on_stage: Callable[[str], None]
    ) -> None:
        self._claimed, self._search, self._engine, self._on_stage = claimed, search, engine, on_stage
        self._names = search.profiler.names
        policy = claimed.account.policy
        self._k, self._wildcard = policy.k, policy.nulls == Nulls.WILDCARD
        self._largest = min(policy.max_size or len(self._names), len(self._names))
        self.rows: int | None = None

    @property
    def rule(self) -> str:
        return f"combinations that fewer than {self._k} rows share"

    def checked(self) -> Iterator[Claim]:
        """Each claim, as soon as it is checked. Raises UsageError, Stopped, StatementError."""
        from qidsql.protection.uniques.algorithms import UniquesByDefinition

        claimed = self._claimed
        if claimed.account.columns != self._names:
            raise UsageError("the columns of the table are no longer in the order of the result; search it again")
        self._on_stage("coding the rows")
        with RowPatterns.of(self._search.profiler) as patterns:
            self.rows = patterns.rows
            rows = {"rows": (claimed.account.rows, patterns.rows), "k": (claimed.k, self._k)}
            yield same("it is about all rows of the table", rows, f"counted {CODED}")
            if not patterns.rows:
                return
            if claimed.account.unfinished or claimed.account.rows != patterns.rows:
                yield Claim("the combinations", Holds.UNKNOWN, "the search did not finish, or not on these rows")
                return
            yield self._progress(patterns.rows)
            if claimed.into is not None or claimed.values_listed:
                yield self._of_values()
            unique = UniquesByDefinition(patterns.records(), self._k, self._largest, self._wildcard)
            if unique.countable:
                yield from self._of_all(patterns, unique)
            else:
                yield from self._of_listed(unique, patterns)

    def _progress(self, rows: int) -> Claim:
        claimed = self._claimed
        figures = {
            "rows_looked_at": (claimed.rows_looked_at, rows),
            "complete_to_size": (claimed.complete_to_size, self._largest),
            "complete": (claimed.complete, self._largest == len(self._names)),
        }
        return same(f"all rows and all sets {self._upto} were searched", figures, "as the policy asks")

    def _of_values(self) -> Claim:
        """Whether the list has values, by its columns."""
        claim = f"the list has {'' if self._claimed.values_listed else 'no '}values"
        columns = None if self._claimed.into is None else self._columns_of(self._claimed.into)
        if columns is None and self._claimed.into is not None:
            return Claim(claim, Holds.UNKNOWN, "the list is not there to be looked at")
        return Claim(claim, held(self._claimed.values_listed == ("values" in (columns or ()))), "by its columns")

    def _columns_of(self, into: str) -> list[str] | None:
        """The columns of the list; None if it cannot be looked at."""
        with suppress(AccessError, SourceError, UsageError):
            if not names_a_file(into):
                return [column.name for column in self._engine.describe(into).columns]
            with connect(into) as engine:
                return [column.name for column in engine.describe(None).columns]
        return None

    @property
    def _upto(self) -> str:
        return f"of up to {plural(self._largest, 'column')}"

    def _of_all(self, patterns: RowPatterns, unique: "UniquesByDefinition") -> Iterator[Claim]:
        from qidsql.commands.uniques.uniques import figures_of
        from qidsql.protection.uniques.minimal_uniques import UniqueCounts

        claimed, profiler = self._claimed, self._search.profiler
        self._on_stage(f"counting combinations on each column set {self._upto}")
        counts = UniqueCounts(patterns.records(), self._largest)
        for records, mask in unique:
            profiler.check_time()
            counts.add(records, mask)
        found = figures_of(self._names, counts, len(claimed.column_sets))
        figures = {name: (getattr(claimed, name), value) for name, value in found.items()}
        how = f"counted anew on all {plural(unique.sets, 'column set')} {self._upto}, by the definition"
        yield same("its combinations are those of the table, and there are no others", figures, how)
        if claimed.scores is not None:
            yield self._of_scores(claimed.scores, patterns, counts)
        if claimed.listed is not None:
            lines = counts.combinations if claimed.key is not None else int(counts.by_record.sum())
            how = "from these counts; the list itself is not read"
            yield same("the list has a line for each of them", {"listed": (claimed.listed, lines)}, how)

    def _of_scores(self, scores: Scores, patterns: RowPatterns, counts: "UniqueCounts") -> Claim:
        from qidsql.commands.uniques.uniques import scores_of

        keys = None
        if any(each.key is not None for each in scores.top):
            keys = keys_of(self._search, str(self._claimed.key), patterns)
        fraction = scores.sampling_fraction or FRACTION
        found = scores_of(scores.kind, fraction, len(scores.top), counts, keys)
        return same(
            f"the {scores.kind.upper()} scores follow", {"scores": (scores, found)}, "computed from these counts"
        )

    def _of_listed(self, unique: "UniquesByDefinition", patterns: RowPatterns) -> Iterator[Claim]:
        """The column sets that are listed."""
        claimed, sizes = self._claimed, patterns.records().sizes
        self._on_stage(f"counting combinations on {plural(len(claimed.column_sets), 'column set')}")
        found = []
        for mask in checked_masks(self._names, [each.columns for each in claimed.column_sets]):
            self._search.profiler.check_time()
            found.append(int(sizes[unique.minimal(mask)].sum()))
        figures = {"column_sets": (tuple(each.combinations for each in claimed.column_sets), tuple(found))}
        yield same("the listed column sets have so many combinations", figures, "counted anew, by the definition")
        how = f"too many column sets {self._upto} to count anew"
        yield Claim("its combinations are those of the table, and there are no others", Holds.UNKNOWN, how)
