"""Checks a result by what it states as its proof. Nothing of the search that found it takes part.

Every criterion of a search is monotone: a column more never makes a set miss it. So sets that are known to miss it, or
to meet it, decide all their subsets or supersets, and a few measured sets prove a claim about all.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, zip_longest
from pathlib import Path

from qidsql.commands.keys.request import KeysRequest
from qidsql.commands.keys.result import KeysResult
from qidsql.commands.mask.request import MaskRequest
from qidsql.commands.mask.result import MaskResult
from qidsql.commands.table_search import TableSearch, interruptible, one_answer
from qidsql.commands.verify.request import VerifyRequest
from qidsql.commands.verify.result import Claim, Holds, VerifyResult
from qidsql.core.results import Verdict
from qidsql.core.sampling import Wanted
from qidsql.core.tables import Table, positions, weight_of
from qidsql.declarations.options import parameters
from qidsql.declarations.results import MISMATCH, loaded
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UsageError
from qidsql.measures.criteria import Criterion
from qidsql.measures.profiles import ClassProfile
from qidsql.search.hitting_sets import MinimalHittingSets, hits_all, minimal_masks
from qidsql.search.minimum_hitting_set import minimum_hitting_set
from qidsql.wording.numbers import count, decimal, few, plural

DOUBTFUL = 16  # sets that are measured where the proof leaves some open
FROM_POLICY = ("where", "entity", "nulls", "k")


@one_answer
def verify(
    engine: Engine, request: VerifyRequest, on_stage: Callable[[str], None] = lambda stage: None
) -> VerifyResult:
    """Whether the claims of a result of keys or mask hold on the table as it is now.

    Measures the column sets that the result lists and those that prove it, one statement each or fewer, and derives
    from these alone what is claimed: minimal sets, a complete list, a bound. A stop makes the verdict inconclusive.
    Raises UsageError (no such result), UnknownName, AccessError, StatementError.
    """
    on_stage("reading the result")
    claimed = _read(request.result)
    asked = _request(claimed, request)
    search = TableSearch(engine, asked.table, asked.policy, asked.column_weights)
    criterion = asked.criterion if isinstance(asked, KeysRequest) else asked.forbidden
    checks: list[Claim] = []
    unfinished: list[str] = []
    rows: int | None = None
    try:
        with interruptible():
            search.measure(criterion)
            on_stage("measuring all columns together")
            whole = search.profiler.profile(search.profiler.everything)
            rows = whole.rows
            criterion = criterion.of_whole(whole)
            facts = _Facts(search, criterion, whole, on_stage)
            if criterion.name != claimed.criterion and rows:
                raise UsageError(f"{request.result} is about another criterion than its options ask for")
            checks += _columns(claimed, search.table)
            for check in _of_keys(claimed, facts) if isinstance(claimed, KeysResult) else _of_mask(claimed, facts):
                checks.append(check)  # one by one: those made before a stop are kept
    except Stopped as stop:
        unfinished.append(str(stop))
    verdict, reason = _judge(checks, unfinished)
    return VerifyResult(
        verdict=verdict,
        reason=reason,
        account=search.account(rows, unfinished),
        command="keys" if isinstance(claimed, KeysResult) else "mask",
        criterion=criterion.name,
        written=claimed.account.started,
        checks=tuple(checks),
    )


def _columns(claimed: KeysResult | MaskResult, table: Table) -> Iterator[Claim]:
    """A column that is new since the result took no part in it."""
    seen = {*claimed.account.columns, *(each.name for each in claimed.account.left_out)}
    new = [column.name for column in table.columns if column.name not in seen]
    if new:
        yield Claim("all columns of the table took part or were left out", Holds.UNKNOWN, f"new since: {few(new)}")


class _Facts:
    """Column sets by their names, measured on the table."""

    def __init__(
        self, search: TableSearch, criterion: Criterion, whole: ClassProfile, on_stage: Callable[[str], None]
    ) -> None:
        self.profiler, self.weights, self.criterion, self.whole = search.profiler, search.weights, criterion, whole
        self._places = {name: place for place, name in enumerate(search.profiler.names)}
        self._on_stage = on_stage

    def masks(self, sets: Sequence[Sequence[str]]) -> list[int]:
        """The sets as masks. Raises UsageError if one has a column that is not searched."""
        try:
            return [sum(1 << self._places[name] for name in set(names)) for names in sets]
        except KeyError as missing:
            raise UsageError(f"the result names {missing.args[0]}, which is none of its columns") from None

    def profiles(self, masks: Sequence[int], which: str) -> list[ClassProfile]:
        self._on_stage(f"measuring {plural(len(masks), which)}")
        return self.profiler.profiles(masks)

    def which_meet(self, masks: Sequence[int], which: str) -> list[bool]:
        return [self.criterion.met_by(profile) for profile in self.profiles(masks, which)]

    @property
    def tick(self) -> Callable[[], None]:
        return self.profiler.check_time


def _of_keys(claimed: KeysResult, facts: _Facts) -> Iterator[Claim]:
    if claimed.impossible:
        missed = not facts.criterion.met_by(facts.whole)
        yield Claim("no column set meets the criterion", _holds(missed), "all columns together do not, measured")
        return
    found = facts.masks([each.columns for each in claimed.column_sets])
    yield from _found(claimed, found, facts)
    failing = [mask for mask in facts.masks(claimed.failing or ()) if mask]
    if any(facts.which_meet(failing, "set that misses the criterion")):
        yield Claim("the sets that prove the rest miss the criterion", Holds.NO, f"{_sets(failing)} measured")
        return
    proof = f"by {_sets(failing)}, measured, each of which misses the criterion"
    every = facts.profiler.everything
    others = minimal_masks([every, *(every ^ mask for mask in failing)], facts.tick)  # no set is empty
    if claimed.minimal:
        rests = [mask ^ 1 << place for mask in found for place in positions(mask) if mask != 1 << place]
        doubtful = [rest for rest in dict.fromkeys(rests) if hits_all(rest, others)]
        yield _unless_met(facts, "none of them has a superfluous column", doubtful, proof)
    if claimed.complete or claimed.complete_to_size:
        size = None if claimed.complete else claimed.complete_to_size
        upto = "" if claimed.complete else f" of at most {plural(claimed.complete_to_size, 'column')}"
        listed = set(found)
        sets = MinimalHittingSets(others, size, (), facts.tick, minimal=True)
        doubtful = list(islice((mask for mask in sets if mask not in listed), DOUBTFUL))
        yield _unless_met(facts, f"no other minimal set{upto} meets the criterion", doubtful, proof)
    if claimed.lower_bound is not None:
        least = minimum_hitting_set(others, facts.weights, tick=facts.tick, minimal=True)
        doubtful = [least.mask] if least.lower_bound < claimed.lower_bound else []
        bound = f"each set that meets the criterion has at least the weight {count(claimed.lower_bound)}"
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
        yield Claim(claim, _holds(right), f"{_sets(found)} measured")
        weights = [weight_of(mask, facts.weights) for mask in found]
        same = all(each.profile == profile for each, profile in pairs)
        same = same and weights == [each.weight for each in claimed.column_sets]
        same = same and claimed.cost in (None, weights[0])
        yield Claim("their figures are those of the table", _holds(same), "measured")


def _theorems(claimed: KeysResult) -> Iterator[Claim]:
    """What rests on a theorem about the search, which no column sets of the result show."""
    certificate = claimed.certificate
    if certificate is not None and claimed.wanted is Wanted.ALL:
        chance = f"{certificate.promise}, but for a chance of {decimal(certificate.delta)}"
        yield Claim(chance, Holds.UNKNOWN, f"{certificate.theorem}; not shown by the result")
    if claimed.guarantee:
        yield Claim(f"the set weighs {claimed.guarantee}", Holds.UNKNOWN, "not shown by the result")


def _of_mask(claimed: MaskResult, facts: _Facts) -> Iterator[Claim]:
    [published] = facts.masks([claimed.published])
    if published:
        [profile] = facts.profiles([published], "published set")
        meets = facts.criterion.met_by(profile)
        if claimed.safe is not False:
            yield Claim("the published columns do not meet the criterion", _holds(not meets), "measured together")
        if claimed.profile is not None:
            yield Claim("their figures are those of the table", _holds(profile == claimed.profile), "measured")
    weight = weight_of(published, facts.weights)
    yield Claim(f"they have the weight {count(claimed.weight)}", _holds(weight == claimed.weight), "added up")
    if claimed.bound is None:
        return
    met = [mask for mask in facts.masks(claimed.quasi_identifiers or ()) if mask]
    if not all(facts.which_meet(met, "quasi-identifier")):
        yield Claim("the sets that prove the bound meet the criterion", Holds.NO, f"{_sets(met)} measured")
        return
    singles = [1 << place for place in range(facts.profiler.columns)]
    met += [mask for mask, meets in zip(singles, facts.which_meet(singles, "column"), strict=True) if meets]
    least, total = minimum_hitting_set(met, facts.weights, tick=facts.tick), sum(facts.weights)
    claim = f"no choice publishes more than the weight {count(claimed.bound)}"
    proof = f"by {_sets(met)}, measured, each of which meets the criterion and so loses a column"
    if total - least.lower_bound <= claimed.bound:
        yield Claim(claim, Holds.YES, proof)
        return
    rest = facts.profiler.everything ^ least.mask
    better = total - least.cost > claimed.bound and not facts.which_meet([rest], "column set")[0]
    yield Claim(claim, Holds.NO if better else Holds.UNKNOWN, "by a choice that publishes more" if better else proof)


def _unless_met(facts: _Facts, claim: str, doubtful: Sequence[int], proof: str) -> Claim:
    """A claim that holds if none of the doubtful sets, which the proof does not exclude, meets the criterion."""
    if not doubtful:
        return Claim(claim, Holds.YES, proof)
    if any(facts.which_meet(doubtful, "set that is not excluded")):
        return Claim(claim, Holds.NO, "by a column set that does, measured")
    return Claim(claim, Holds.UNKNOWN, f"not {proof}: others are not excluded")


def _holds(holds: bool) -> Holds:
    return Holds.YES if holds else Holds.NO


def _judge(checks: Sequence[Claim], unfinished: Sequence[str]) -> tuple[Verdict, str]:
    wrong = [check.text for check in checks if check.holds is Holds.NO]
    unknown = [check.text for check in checks if check.holds is Holds.UNKNOWN]
    if wrong:
        number = plural(len(wrong), f"of {count(len(checks))} claims does", f"of {count(len(checks))} claims do")
        return Verdict.VIOLATION, f"{number} not hold: {'; '.join(wrong)}"
    if unfinished or not checks:
        return Verdict.INCONCLUSIVE, "; ".join(unfinished) or "the result claims nothing"
    if unknown:
        return Verdict.INCONCLUSIVE, f"not proved: {'; '.join(unknown)}"
    return Verdict.PASS, f"{plural(len(checks), 'claim')} checked: each holds on the table as it is now"


def _sets(sets: Sequence[int]) -> str:
    return plural(len(sets), "column set")


# Reading the result


def _read(path: str) -> KeysResult | MaskResult:
    expected = f"{path} must be a result of keys or mask that qidsql wrote with --format json"
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(expected) from None
    for kind, own in ((KeysResult, "column_sets"), (MaskResult, "published")):
        if isinstance(document, dict) and own in document:
            try:
                return loaded(kind, document)  # type: ignore[no-any-return]
            except MISMATCH:
                break
    raise UsageError(expected)


def _request(claimed: KeysResult | MaskResult, request: VerifyRequest) -> KeysRequest | MaskRequest:
    """The request that asks for the criterion of the result, on its columns."""
    account = claimed.account
    kind = KeysRequest if isinstance(claimed, KeysResult) else MaskRequest
    options = {name: getattr(account.policy, name) for name in FROM_POLICY} | _options(kind, claimed.options)
    return kind(
        table=account.table,
        columns=account.columns,
        sensitive=account.policy.sensitive[-1:],  # a limit on disclosure is about the last one
        weights=account.weights or None,
        max_statements=request.max_statements,
        max_seconds=request.max_seconds,
        **options,
    )


def _options(request: type, text: str) -> dict[str, object]:
    """The options of a criterion, as typed, as fields of a request."""
    forms = {each.shown: each for each in parameters(request)}
    words = shlex.split(text)
    given: dict[str, object] = {}
    for word, value in zip_longest(words, words[1:], fillvalue=""):
        if word in forms:
            convert = int if forms[word].form.command_line is int else str
            given[forms[word].name] = convert(value) if value and value not in forms else True
    return given
