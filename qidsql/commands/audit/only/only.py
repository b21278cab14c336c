"""The measures of one column set of a table."""

from collections.abc import Callable

from qidsql.commands.audit.only.command import OnlyRequest, OnlyResult
from qidsql.commands.table_search import TableSearch, interruptible, one_answer
from qidsql.core.results import Disclosed, Verdict
from qidsql.engines.base import Engine
from qidsql.errors import Stopped
from qidsql.measures.profiles import ClassSizes, bin_starts, size_bins
from qidsql.profiling.disclosing import disclosures
from qidsql.wording.texts import plural


@one_answer
def only(engine: Engine, request: OnlyRequest, on_stage: Callable[[str], None] = lambda stage: None) -> OnlyResult:
    """The measures of the columns together (all readable ones if none is named).

    One statement, one scan; one more for persons; where a NULL matches anything, first one to count the NULLs, and at
    most one for each column with NULLs. A stop makes the verdict inconclusive, as do rows without a person. Raises
    UsageError, UnknownName, AccessError, StatementError.
    """
    on_stage("reading the catalog")
    search = TableSearch(engine, request.table, request.policy, {})
    sizes: ClassSizes | None = None
    disclosed: list[Disclosed] = []
    unfinished: list[str] = []
    on_stage("profiling the column set")
    try:
        with interruptible():
            search.confirm_persons()
            sizes = search.profiler.sizes(search.profiler.everything)
            if sizes.rows:
                for each in disclosures(search.profiler, search.table, search.resolved.sensitive):
                    disclosed.append(each)  # one by one: those measured before a stop are kept
    except Stopped as stop:
        unfinished = [str(stop)]
    k = request.policy.k
    profile = None if sizes is None else sizes.profile(k)
    rows = None if profile is None else profile.rows
    return OnlyResult(
        verdict=Verdict.FINISHED if rows else Verdict.INCONCLUSIVE,
        reason="not measured to the end" if rows is None else f"{plural(rows, 'row')} measured",
        account=search.account(rows, unfinished),
        profile=profile,
        class_sizes=() if sizes is None else size_bins(sizes, bin_starts(k)),
        disclosed=tuple(disclosed),
    )
