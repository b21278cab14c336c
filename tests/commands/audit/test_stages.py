"""A stage yields facts: what it yielded stands, whatever stops it, and the report names what is not done."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from qidsql.commands.audit import audit as auditing
from qidsql.commands.audit.audit import audit
from qidsql.commands.audit.command import AuditRequest, AuditResult
from qidsql.commands.audit.facts import AuditFacts, AuditWork, Stage, facts_after
from qidsql.errors import BudgetSpent, StatementError
from tests.stores import ONE_ENGINE, Store

pytestmark = ONE_ENGINE


def counting(*stops: Exception) -> Stage:
    """Counts three rows, and is stopped then, if so; else counts four."""

    def run(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
        yield replace(facts, rows=3)
        for stop in stops:
            raise stop
        yield replace(facts, rows=4)

    return Stage(run, "counting", ends_with=(StatementError,), said="counted in part: ")


def never(work: AuditWork, facts: AuditFacts) -> Iterator[AuditFacts]:
    raise AssertionError("the audit ended before")


def audited(store: Store, monkeypatch: pytest.MonkeyPatch, stages: Sequence[Stage]) -> AuditResult:
    def listed(request: AuditRequest) -> Iterator[tuple[Stage, list[str]]]:
        names = [each.name for each in stages]
        return ((stage, names[place + 1 :]) for place, stage in enumerate(stages))

    store.table("t", {"a": "INT"}, [(1,)])
    monkeypatch.setattr(auditing, "_stages", listed)
    with store.connect() as engine:
        return audit(engine, AuditRequest("t", k=2))


@pytest.mark.parametrize(
    ("stop", "unfinished"),
    [
        (BudgetSpent("no seconds left"), "no seconds left; not done: counting"),
        (StatementError("no disk"), "counted in part: no disk; not done: counting"),
        (KeyboardInterrupt(), "interrupted; not done: counting"),
    ],
)
def test_what_a_stage_yielded_stands_and_no_other_runs(
    store: Store, monkeypatch: pytest.MonkeyPatch, stop: Exception, unfinished: str
) -> None:
    result = audited(store, monkeypatch, [counting(stop), Stage(never, "the rest")])
    assert (result.account.rows, result.account.unfinished) == (3, (unfinished,))


def test_a_stage_that_explains_leaves_those_after_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    explained = replace(counting(StatementError("no disk")), explains=True)
    result = audited(store, monkeypatch, [explained, Stage(never, "the rest")])
    assert result.account.unfinished == ("counted in part: no disk; not done: the rest",)


def test_a_stage_runs_only_where_it_is_needed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    result = audited(store, monkeypatch, [counting(), Stage(never, needed=lambda work, facts: facts.rows == 3)])
    assert (result.account.rows, result.account.unfinished) == (4, ())


def test_verify_runs_the_same_stages_and_what_stops_one_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    work, facts = object(), AuditFacts(auditing.unknown_table("t"))
    seen = []
    with pytest.raises(StatementError, match="no disk"):
        for found in facts_after([counting(StatementError("no disk"))], work, facts):  # type: ignore[arg-type]
            seen.append(found.rows)
    assert seen == [3]
