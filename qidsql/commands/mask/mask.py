"""Which columns of a table can be published together, and the script that would do it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from qidsql.commands import gate
from qidsql.commands.keys.result import MaskResult, Outcome
from qidsql.commands.table_search import Searching, interruptible, one_answer
from qidsql.core.criterion_options import DELTA, Sampling
from qidsql.core.policy import Policy
from qidsql.core.tables import FILES, TableName
from qidsql.core.wording import count, plural
from qidsql.engines.base import Engine
from qidsql.errors import Stopped, UsageError
from qidsql.measures.profiles import Criterion, Distinct, Key, Separation, decimal
from qidsql.protection.masking import MaskingPlan, exact_masking, forbidden, greedy_masking, sampled_masking
from qidsql.search.sample_sizes import antichain, near_size
from qidsql.sql.publication import granting_columns, publishing_view


@dataclass(frozen=True, slots=True)
class MaskQuestion:
    """What no published columns may give away together. Raises UsageError when the options cannot be right.

    A ratio of exactly the criterion's may be published, as in the paper. `view` and `role` are the names that the
    script uses; default: the table's with _published, and reader.
    """

    policy: Policy
    criterion: Criterion
    exact: bool = False
    weights: Mapping[str, int] = field(default_factory=dict)
    sampling: Sampling = field(default_factory=Sampling)
    view: str | None = None
    role: str = "reader"

    def __post_init__(self) -> None:
        if isinstance(self.criterion, Key):
            raise UsageError(
                "say what may not be published: --distinct 0.5, --separation 0.8, --violates 5 or --rows-at-risk 0.01"
            )
        if isinstance(self.criterion, (Distinct, Separation)) and self.criterion.beta == 1:
            raise UsageError("a ratio of exactly 1 could be published, which is a key; give a smaller one, such as 0.9")
        if self.policy.max_size is not None:
            raise UsageError("--max-size means nothing to a masking")
        if self.sampling.asked and self.sampling.epsilon is None:
            raise UsageError("--delta, --seed and --no-verify are for samples: give --epsilon as well")
        if self.sampling.epsilon is not None:
            if self.exact:
                raise UsageError("--exact asks the full table and --epsilon a sample; choose one")
            if not isinstance(self.criterion, (Distinct, Separation)):
                raise UsageError("a sample says nothing about small classes; leave out --epsilon")
            if self.policy.entity is not None:
                raise UsageError("a sample of rows says nothing about entities; leave out --entity or --epsilon")

    @property
    def plan(self) -> str:
        """What is going to be done, in words."""
        how = "implicit-hitting-set, proved" if self.exact else "greedy" if self.sampling.epsilon is None else "sampled"
        return f"columns to publish without a {forbidden(self.criterion).name}, by {how}"


@one_answer
def mask(
    engine: Engine, table: str | None, question: MaskQuestion, on_stage: Callable[[str], None] = lambda stage: None
) -> MaskResult:
    """Which columns to publish so that they do not meet the criterion, measured on the full table.

    Greedy unless an exact or a sampled plan was asked for. A stop (budget, lost connection, Ctrl-C) makes the outcome
    inconclusive (as does a statement that fails after others were answered): the best plan known to be safe by then,
    and the bound proved. Applies nothing. Raises UsageError,
    UnknownName, AccessError, StatementError.
    """
    on_stage("reading the catalog")
    search = Searching(engine, table, question.policy, question.weights)
    if question.view is not None and (
        question.view == search.table.name.name or not engine.dialect.keeps(question.view)
    ):
        raise UsageError(f"--view {question.view} is the table itself, or longer than {engine.label} keeps names")
    plan, unfinished = None, ""
    try:
        with interruptible():
            search.use_workspace(on_stage)
            on_stage(f"looking for columns without a {question.criterion.name}")
            plan = gate.masking(_plan(search, question), search.weights)
        unfinished = str(plan.stopped or "")
    except Stopped as stop:
        unfinished = str(stop)
    everything, total = search.profiler.everything, sum(search.weights)
    published = plan.published if plan else 0
    measured = None if plan is None or plan.safe is None else plan.profile
    singles = search.profiler.known().values()  # no statement: a plan that publishes nothing has measured these
    rows = next((profile.rows for profile in ([measured] if measured else singles)), None)
    names = search.names(published)
    return MaskResult(
        outcome=Outcome.INCONCLUSIVE if unfinished or rows == 0 else Outcome.FINISHED,
        reason=_reason(plan, len(names), search.profiler.columns, rows, all(weight == 1 for weight in search.weights)),
        criterion=forbidden(question.criterion).name,
        algorithm=plan.algorithm.replace(" ", "-") if plan else "none",
        published=names,
        withheld=search.names(everything & ~published),
        weight=plan.weight if plan else 0,
        bound=plan.bound if plan else None if search.stopped else total,
        safe=plan.safe if plan else None,
        profile=measured,
        certificate=plan.certificate if plan else None,
        script=_script(engine, search, question, names) if plan is not None and plan.safe is not False else (),
        work=search.work(rows, [unfinished] if unfinished else []),
    )


def _plan(search: Searching, question: MaskQuestion) -> MaskingPlan:
    criterion, sampling = forbidden(question.criterion), question.sampling
    if question.exact:
        return exact_masking(search.profiler, criterion, search.weights)
    if sampling.epsilon is None:
        return greedy_masking(search.profiler, criterion, search.weights)
    assert isinstance(question.criterion, (Distinct, Separation))
    delta = sampling.delta or DELTA
    size = near_size(question.criterion.beta, sampling.epsilon, delta, antichain(search.profiler.columns))
    sampler = search.sampler(sampling.seed or 0)
    return sampled_masking(search.profiler, criterion, sampler, size, delta, search.weights, verify=sampling.verify)


def _script(engine: Engine, search: Searching, question: MaskQuestion, published: tuple[str, ...]) -> tuple[str, ...]:
    """What would publish the columns: a view, or the columns of the table itself. Empty for files and for nothing."""
    table = search.table
    if not published or table.kind in FILES:
        return ()
    dialect = engine.dialect
    view = TableName(
        question.view or dialect.name_beside(table.name.name, "_published"), table.name.schema, table.name.catalog
    )
    statements = publishing_view(dialect, table, published, view, question.role)
    if dialect.has_roles and table.condition is None:  # a grant of columns would publish every row
        statements += granting_columns(dialect, table, published, question.role)
    return dialect.script(*statements)


def _reason(plan: MaskingPlan | None, published: int, columns: int, rows: int | None, plain: bool) -> str:
    if plan is None:
        return "not searched to the end: no columns are known to be safe"
    if rows == 0:
        return "there is nothing to measure: no row"
    what = f"{count(published)} of {plural(columns, 'column')} can be published"
    if plan.safe is False:
        return (
            f"the {plural(published, 'column')} found on a sample are not safe on the full table: the chance came true"
        )
    if plan.safe is None and plan.certificate is not None:
        return f"{what}, but for a chance of {decimal(plan.certificate.delta)}; not measured on the full table"
    if plan.optimal:
        return f"{what}; proved: no choice publishes more"
    more = count(plan.gap) if plain else f"the weight {count(plan.gap)}"
    return f"{what}; another choice might publish {more} more"
