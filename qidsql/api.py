"""The Python face of qidsql: the same words as the command line.

Ctrl-C makes a result inconclusive. Before there is anything to report, while the source is opened and its catalog read,
it raises Interrupted instead.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from qidsql.commands.anonymize.anonymize import AnonymizeQuestion, Method
from qidsql.commands.anonymize.anonymize import anonymize as run_anonymize
from qidsql.commands.anonymize.result import AnonymizeResult
from qidsql.commands.audit.audit import audit as run_audit
from qidsql.commands.audit.result import AuditResult, ProfileResult
from qidsql.commands.doctor.doctor import doctor as run_doctor
from qidsql.commands.doctor.result import DoctorResult
from qidsql.commands.graph.follow_up import follow
from qidsql.commands.graph.graph import graph as run_graph
from qidsql.commands.graph.request import MAX_PATHS, GraphQuestion
from qidsql.commands.graph.request import algorithm as algorithm_by_name
from qidsql.commands.graph.request import then as then_by_name
from qidsql.commands.graph.result import GraphResult
from qidsql.commands.impact.impact import MAX_VALUES, ImpactQuestion
from qidsql.commands.impact.impact import impact as run_impact
from qidsql.commands.impact.result import ImpactResult
from qidsql.commands.init.init import MAX_SECONDS, MAX_STATEMENTS, InitQuestion
from qidsql.commands.init.init import init as run_init
from qidsql.commands.init.result import InitResult
from qidsql.commands.keys.keys import KeysQuestion
from qidsql.commands.keys.keys import keys as run_keys
from qidsql.commands.keys.result import FoundSet, KeysResult, MaskResult
from qidsql.commands.link.link import LinkQuestion
from qidsql.commands.link.link import link as run_link
from qidsql.commands.link.result import LinkResult
from qidsql.commands.mask.mask import MaskQuestion
from qidsql.commands.mask.mask import mask as run_mask
from qidsql.commands.profile.profile import profile as run_profile
from qidsql.commands.suppress.result import SuppressResult
from qidsql.commands.suppress.suppress import SuppressQuestion
from qidsql.commands.suppress.suppress import method as method_by_name
from qidsql.commands.suppress.suppress import script as script_by_name
from qidsql.commands.suppress.suppress import suppress as run_suppress
from qidsql.commands.uniques.result import UniquesResult, score_kind
from qidsql.commands.uniques.uniques import UniquesQuestion
from qidsql.commands.uniques.uniques import uniques as run_uniques
from qidsql.core.criterion_options import asked
from qidsql.core.criterion_options import wanted as wanted_by_name
from qidsql.core.policy import Policy, names, ratio
from qidsql.core.time_limit import within
from qidsql.core.weights import column_weights
from qidsql.engines.base import Engine
from qidsql.engines.connect import connect, reached
from qidsql.errors import Interrupted

__all__ = [
    "anonymize",
    "audit",
    "connect",
    "doctor",
    "graph",
    "impact",
    "init",
    "keys",
    "link",
    "mask",
    "profile",
    "suppress",
    "uniques",
]


def audit(
    source: str | Engine | None = None,
    table: str | None = None,
    *,
    k: int = 5,
    columns: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    identifiers: Iterable[str] | str = (),
    sensitive: Iterable[str] | str = (),
    keep_identifiers: bool = False,
    distinct: str | float | Fraction | None = None,
    separation: str | float | Fraction | None = None,
    rows_at_risk: str | float | Fraction | None = None,
    where: str | None = None,
    entity: str | None = None,
    nulls: str = "equal",
    max_size: int | None = None,
    max_statements: int | None = None,
    max_seconds: float | None = None,
    workspace: bool = False,
) -> AuditResult:
    """Audits one table; the options are those of `qidsql audit`.

    `source` is what the command line takes, or an engine from `connect` (which stays open). A float stands for the
    decimal it prints as: 0.9 is exactly 9/10. Raises QidsqlError's subclasses; a spent budget, a lost connection and
    Ctrl-C do not raise but make the verdict inconclusive; Ctrl-C before the audit begins raises Interrupted.
    """
    policy = Policy.read(
        k=k,
        distinct=distinct,
        separation=separation,
        rows_at_risk=rows_at_risk,
        columns=columns,
        exclude=exclude,
        identifiers=identifiers,
        sensitive=sensitive,
        keep_identifiers=keep_identifiers,
        where=where,
        entity=entity,
        nulls=nulls,
        max_size=max_size,
        max_statements=max_statements,
        max_seconds=max_seconds,
    )
    with _engine(source, max_seconds, workspace=workspace) as engine:
        return run_audit(engine, table, policy)


def profile(
    source: str | Engine | None = None,
    table: str | None = None,
    *,
    columns: Iterable[str] | str = (),
    k: int = 5,
    where: str | None = None,
    entity: str | None = None,
    nulls: str = "equal",
) -> ProfileResult:
    """The measures of one column set; the options are those of `qidsql profile`. Raises QidsqlError's subclasses."""
    policy = Policy.read(k=k, columns=columns, where=where, entity=entity, nulls=nulls)
    with _engine(source, None) as engine:
        return run_profile(engine, table, policy)


def keys(
    source: str | Engine | None = None,
    table: str | None = None,
    *,
    wanted: str | None = None,
    distinct: str | float | Fraction | None = None,
    separation: str | float | Fraction | None = None,
    violates: int | None = None,
    rows_at_risk: str | float | Fraction | None = None,
    k: int = 5,
    algorithm: str | None = None,
    weights: str | Path | Mapping[str, int] | None = None,
    epsilon: str | float | Fraction | None = None,
    delta: str | float | Fraction | None = None,
    seed: int | None = None,
    verify: bool = True,
    columns: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    identifiers: Iterable[str] | str = (),
    sensitive: Iterable[str] | str = (),
    where: str | None = None,
    entity: str | None = None,
    nulls: str = "equal",
    max_size: int | None = None,
    max_statements: int | None = None,
    max_seconds: float | None = None,
    workspace: bool = False,
    on_found: Callable[[FoundSet], None] | None = None,
) -> KeysResult:
    """Keys and quasi-identifiers of one table; the options are those of `qidsql keys`.

    `wanted` is "minimum" (the default), "minimal" or "all"; `on_found` is handed each column set as soon as it is known
    to be in the answer. An engine that is to take a copy (`workspace`) comes from `connect(..., workspace=True)`.
    Raises QidsqlError's subclasses; a spent budget, a lost connection and Ctrl-C do not raise but make the outcome
    inconclusive.
    """
    question = KeysQuestion(
        **asked(
            distinct=distinct,
            separation=separation,
            violates=violates,
            rows_at_risk=rows_at_risk,
            k=k,
            epsilon=epsilon,
            delta=delta,
            seed=seed,
            verify=verify,
            weights=weights,
            columns=columns,
            exclude=exclude,
            identifiers=identifiers,
            sensitive=sensitive,
            where=where,
            entity=entity,
            nulls=nulls,
            max_size=max_size,
            max_statements=max_statements,
            max_seconds=max_seconds,
        ),
        wanted=wanted_by_name(wanted),
        algorithm=algorithm,
    )
    with _engine(source, max_seconds, workspace=workspace) as engine:
        return run_keys(engine, table, question, on_found=on_found)


def link(
    source: str | Engine | None,
    left: str,
    right: str,
    *,
    on: Iterable[str] | str = (),
    k: int = 2,
    rows_at_risk: str | float | Fraction | None = None,
    where: str | None = None,
    max_statements: int | None = None,
    max_seconds: float | None = None,
) -> LinkResult:
    """The joinable columns of two tables, and whom a join on them singles out; the options are those of `qidsql link`.

    `on` holds pairs of columns, each as "a=b". Raises as `keys`.
    """
    policy = Policy.read(
        k=k, rows_at_risk=rows_at_risk, where=where, max_statements=max_statements, max_seconds=max_seconds
    )
    with _engine(source, max_seconds) as engine:
        return run_link(engine, left, right, LinkQuestion(policy, names(on)))


def mask(
    source: str | Engine | None = None,
    table: str | None = None,
    *,
    distinct: str | float | Fraction | None = None,
    separation: str | float | Fraction | None = None,
    violates: int | None = None,
    rows_at_risk: str | float | Fraction | None = None,
    k: int = 5,
    exact: bool = False,
    weights: str | Path | Mapping[str, int] | None = None,
    epsilon: str | float | Fraction | None = None,
    delta: str | float | Fraction | None = None,
    seed: int | None = None,
    verify: bool = True,
    view: str | None = None,
    role: str = "reader",
    columns: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    identifiers: Iterable[str] | str = (),
    sensitive: Iterable[str] | str = (),
    where: str | None = None,
    entity: str | None = None,
    nulls: str = "equal",
    max_statements: int | None = None,
    max_seconds: float | None = None,
    workspace: bool = False,
) -> MaskResult:
    """Which columns can be published together; the options are those of `qidsql mask`. Raises as `keys`."""
    question = MaskQuestion(
        **asked(
            distinct=distinct,
            separation=separation,
            violates=violates,
            rows_at_risk=rows_at_risk,
            k=k,
            epsilon=epsilon,
            delta=delta,
            seed=seed,
            verify=verify,
            weights=weights,
            columns=columns,
            exclude=exclude,
            identifiers=identifiers,
            sensitive=sensitive,
            where=where,
            entity=entity,
            nulls=nulls,
            max_statements=max_statements,
            max_seconds=max_seconds,
        ),
        exact=exact,
        view=view,
        role=role,
    )
    with _engine(source, max_seconds, workspace=workspace) as engine:
        return run_mask(engine, table, question)


def anonymize(
    source: str | Engine | None = None,
    table: str | None = None,
    *,
    k: int = 5,
    method: str = "auto",
    weights: str | Mapping[str, int] | None = None,
    into: str | None = None,
    replace: bool = False,
    sql: str | None = None,
    columns: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    identifiers: Iterable[str] | str = (),
    sensitive: Iterable[str] | str = (),
    keep_identifiers: bool = False,
    where: str | None = None,
    max_seconds: float | None = None,
) -> AnonymizeResult:
    """The fewest cells to suppress so that every row is identical to k - 1 others; the options are those of
    `qidsql anonymize`. Writes and raises as `suppress`."""
    policy = Policy.read(
        k=k,
        columns=columns,
        exclude=exclude,
        identifiers=identifiers,
        sensitive=sensitive,
        keep_identifiers=keep_identifiers,
        where=where,
        max_seconds=max_seconds,
    )
    script = None if sql is None else script_by_name(sql)
    question = AnonymizeQuestion(policy, Method.read(method), column_weights(weights), into, replace, script)
    with _engine(source, max_seconds, writable=into is not None) as engine:
        return run_anonymize(engine, table, question)


def graph(
    source: str | Engine | None = None,
    *,
    identifiers: Iterable[str] | str,
    sensitive: Iterable[str] | str,
    schema: str | None = None,
    outside: str | Path | None = None,
    exclude: Iterable[str] | str = (),
    protect: Iterable[str] | str = (),
    algorithm: str = "minimum-cut",
    accept_names: bool = False,
    containment: bool = True,
    find_dependencies: bool = False,
    max_paths: int = MAX_PATHS,
    every_path: bool = False,
    then: str | None = None,
    k: int = 5,
    max_statements: int | None = None,
    max_seconds: float | None = None,
) -> GraphResult:
    """Which attributes separate identifiers from sensitive ones; the options are those of `qidsql graph`.

    Without a source, the tables of the file `outside` are all there is. Raises QidsqlError's subclasses; a spent
    budget, a lost connection and Ctrl-C do not raise but make the outcome inconclusive.
    """
    question = GraphQuestion(
        identifiers=names(identifiers),
        sensitive=names(sensitive),
        schema=schema,
        outside=None if outside is None else Path(outside),
        exclude=names(exclude),
        protect=names(protect),
        algorithm=algorithm_by_name(algorithm),
        accept_names=accept_names,
        containment=containment,
        find_dependencies=find_dependencies,
        max_paths=max_paths,
        every_path=every_path,
        then=None if then is None else then_by_name(then),
        k=k,
        max_statements=max_statements,
        max_seconds=max_seconds,
    )
    if source is None and outside is not None and not os.environ.get("QIDSQL_URL"):
        return run_graph(None, question)
    with _engine(source, max_seconds) as engine:
        return follow(engine, question, run_graph(engine, question))


def impact(
    source: str | Engine | None = None,
    table: str | None = None,
    *,
    protected: str,
    weight: str | None = None,
    outcome: str | None = None,
    covariates: Iterable[str] | str = (),
    fill: float | None = None,
    mark: str | None = None,
    columns: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    show_values: bool = False,
    max_values: int = MAX_VALUES,
    max_statements: int | None = None,
    max_seconds: float | None = None,
) -> ImpactResult:
    """What local suppression did to a table, beside its protected copy; the options are those of `qidsql impact`.

    Raises as `keys`.
    """
    question = ImpactQuestion(
        protected,
        Policy.read(columns=columns, exclude=exclude, max_statements=max_statements, max_seconds=max_seconds),
        weight=weight,
        outcome=outcome,
        covariates=(covariates,) if isinstance(covariates, str) else tuple(covariates),
        fill=fill,
        mark=mark,
        show_values=show_values,
        max_values=max_values,
    )
    with _engine(source, max_seconds) as engine:
        return run_impact(engine, table, question)


def suppress(
    source: str | Engine | None = None,
    table: str | None = None,
    *,
    k: int = 2,
    weights: str | Mapping[str, int] | None = None,
    method: str = "optimal",
    into: str | None = None,
    replace: bool = False,
    sql: str | None = None,
    columns: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    identifiers: Iterable[str] | str = (),
    sensitive: Iterable[str] | str = (),
    keep_identifiers: bool = False,
    where: str | None = None,
    nulls: str = "equal",
    show_values: bool = False,
    max_seconds: float | None = None,
) -> SuppressResult:
    """The fewest cells to suppress, and the copy; the options are those of `qidsql suppress`.

    An engine that is to write (`into`) comes from `connect(..., writable=True)`, and is closed when the copy is kept.
    Raises QidsqlError's subclasses; a spent budget, a lost connection and Ctrl-C do not raise but make the outcome
    inconclusive, and then nothing is written.
    """
    policy = Policy.read(
        k=k,
        columns=columns,
        exclude=exclude,
        identifiers=identifiers,
        sensitive=sensitive,
        keep_identifiers=keep_identifiers,
        where=where,
        nulls=nulls,
        max_seconds=max_seconds,
    )
    script = None if sql is None else script_by_name(sql)
    question = SuppressQuestion(
        policy, column_weights(weights), method_by_name(method), into, replace, script, show_values
    )
    with _engine(source, max_seconds, writable=into is not None) as engine:
        return run_suppress(engine, table, question)


def uniques(
    source: str | Engine | None = None,
    table: str | None = None,
    *,
    k: int = 2,
    scores: str | None = None,
    sampling_fraction: str | float | Fraction | None = None,
    columns: Iterable[str] | str = (),
    exclude: Iterable[str] | str = (),
    identifiers: Iterable[str] | str = (),
    sensitive: Iterable[str] | str = (),
    where: str | None = None,
    nulls: str = "equal",
    max_size: int | None = None,
    max_seconds: float | None = None,
    limit: int = 10,
    key: str | None = None,
    into: str | Path | None = None,
    replace: bool = False,
    show_values: bool = False,
) -> UniquesResult:
    """The minimal unsafe combinations of one table; the options are those of `qidsql uniques`.

    An engine that is to write a table (`into`) comes from `connect(..., writable=True)`. Raises QidsqlError's
    subclasses; a spent budget and Ctrl-C do not raise but make the outcome inconclusive.
    """
    question = UniquesQuestion(
        Policy.read(
            k=k,
            columns=columns,
            exclude=exclude,
            identifiers=identifiers,
            sensitive=sensitive,
            where=where,
            nulls=nulls,
            max_size=max_size,
            max_seconds=max_seconds,
        ),
        scores=score_kind(scores),
        fraction=ratio(sampling_fraction, "--sampling-fraction"),
        shown=limit,
        key=key,
        into=None if into is None else Path(into),
        replace=replace,
        show_values=show_values,
    )
    with _engine(source, max_seconds, writable=question.makes_table) as engine:
        return run_uniques(engine, table, question)


def init(
    source: str | Engine | None = None,
    *,
    schema: str | None = None,
    tables: Iterable[str] | str = (),
    views: bool = False,
    dbt: str | Path | None = None,
    statistics: bool = True,
    max_statements: int = MAX_STATEMENTS,
    max_seconds: float = MAX_SECONDS,
) -> InitResult:
    """The proposed role of each column; the options are those of `qidsql init`. Writes nothing. Raises as `keys`."""
    question = InitQuestion(
        schema,
        names(tables),
        views,
        statistics,
        None if dbt is None else Path(dbt),
        max_statements,
        max_seconds,
    )
    with _engine(source, max_seconds) as engine:
        return run_init(engine, question)


def doctor(source: str | Engine | None = None, *, schema: str | None = None, role: str | None = None) -> DoctorResult:
    """Whether the source can be audited, and what to do where not; the options are those of `qidsql doctor`.

    That no connection comes about is an answer, not an error. Raises UnknownName, UsageError, Interrupted.
    """
    with _ctrl_c_is_an_error():
        return run_doctor(lambda: _engine(source, None), None if isinstance(source, Engine) else source, schema, role)


@contextmanager
def _engine(source: str | Engine | None, max_seconds: float | None, **options: bool) -> Iterator[Engine]:
    """An engine on the source, closed at the end; one that was given stays open. The seconds are for connecting and
    for all in the block. Raises Interrupted.
    """
    with _ctrl_c_is_an_error(), within(max_seconds):
        if isinstance(source, Engine):
            yield source
            return
        with reached(source, **options) as engine:
            yield engine


@contextmanager
def _ctrl_c_is_an_error() -> Iterator[None]:
    """What Ctrl-C interrupts in the block raises Interrupted; a search that has begun makes a result of it itself."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted before there was anything to report") from None
