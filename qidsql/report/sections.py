"""Blocks that reports share: the source and the columns searched, the cost, a written copy, class sizes."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from qidsql.core.policy import Policy
from qidsql.core.results import Account, LeftOut, SearchAccount
from qidsql.core.tables import Nulls
from qidsql.measures.profiles import SizeBin
from qidsql.report.blocks import Bar, Block, Chart, Fields, Heading, Labelled, Sentence, Tone, Verbatim
from qidsql.search.result import Certificate
from qidsql.wording.numbers import count, counted, decimal, few, percent, plural, seconds, size

NOTHING_LEFT = "no cell value left the engine"
CODES_LEFT = "each distinct row left the engine as codes, not values; codes of few values can be decoded"
WORTH_SAYING = 10_000_000  # bytes


def facts(account: SearchAccount) -> Fields:
    """The source and the columns searched; a report adds its own."""
    found = Fields()
    rows = "" if account.rows is None else f", {plural(account.rows, 'row')}"
    if account.entities is not None:
        rows = f", {plural(account.entities, 'entity', 'entities')} ({account.policy.entity})"
    rows += " that meet --where" if account.policy.where else ""
    found.add("Source", f"{account.source}, {account.kind} {account.table}{rows}")
    found.add("", f"{account.read_by}; {account.snapshot}")
    if account.columns:
        found.add("Searched", f"{few(account.columns)}. {account.policy.null_rule}")
    for left_out in by_reason((each.name, each.reason) for each in account.left_out):
        found.add("Left out", left_out)
    if account.weights:
        weights = ", ".join(f"{name}={weight}" for name, weight in account.weights.items())
        found.add("Weights", f"{weights}; others 1")
    for note in account.notes:
        found.add("Note", note)
    return found


def by_reason(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names with the reason that they share, one text for each reason."""
    names: dict[str, list[str]] = {}
    for name, reason in named:
        names.setdefault(reason, []).append(name)
    return (f"{few(same)}: {reason}" for reason, same in names.items())


def certificate(rests_on: Certificate) -> str:
    """The sample that a result is based on."""
    *sizes, last = rests_on.sizes
    drawn = ", ".join([*map(count, sizes), counted(last, rests_on.unit)])
    epsilon = "" if rests_on.epsilon is None else f"epsilon = {decimal(rests_on.epsilon)}, "
    measured = "measured on the full table" if rests_on.verified else "not measured on the full table"
    return (
        f"{drawn}, {epsilon}delta = {decimal(rests_on.delta)}, seed {rests_on.seed}; "
        f"promise: {rests_on.promise} ({rests_on.theorem}); {measured}"
    )


def unfinished(parts: Sequence[str]) -> Iterator[Block]:
    """What was not finished, a line each."""
    for number, part in enumerate(parts):
        yield Fields([Labelled("Unfinished", part, tone=Tone.UNKNOWN)], close=number > 0)


def cost(account: Account, written: str | None = None, values: str = NOTHING_LEFT) -> Iterator[Block]:
    """The unfinished parts, the cost of the work, and which values left the engine."""
    yield from unfinished(account.unfinished)
    done = "only read" if written is None else f"only {written} was written"
    profiled = f", {plural(account.sets_profiled, 'column set')} profiled" if account.sets_profiled else ""
    worked = f"{work_done(account)}, {seconds(account.seconds)}{profiled}; {done}, {values}."
    yield Sentence(worked, close=bool(account.unfinished))


def work_done(account: Account) -> str:
    """Statements, the rounds in which they were sent, and scans."""
    sent = f"{plural(account.statements, 'statement')} in {plural(account.rounds, 'round')}"
    return f"{sent}, at most {plural(account.scans, 'scan')}{_bytes_read(account)}"


def _bytes_read(account: Account) -> str:
    """What they read, if that is more than a few pages."""
    if account.bytes_read is None or account.bytes_read < WORTH_SAYING:
        return ""
    return f" of {'at most' if account.bytes_exact else 'about'} {size(account.bytes_read)}"


def copy_facts(
    rows: Fields,
    target: str,
    copied: Sequence[str],
    not_copied: Sequence[LeftOut],
    protected: Sequence[str],
) -> None:
    """Adds the columns of a written copy: all, those without protection, and those not copied."""
    rows.add("Written", f"{target}: {few(copied)}")
    unprotected = [name for name in copied if name not in protected]
    if unprotected:
        rows.add(
            "Unprotected",
            f"{few(unprotected)}: copied unchanged, not audited; leave out columns that identify people (--identifier)",
        )
    for left_out in by_reason((each.name, each.reason) for each in not_copied):
        rows.add("Not copied", left_out)
    if not_copied:
        words = "a copy has the protected columns, and unchanged the sensitive ones (--sensitive) and those of --keep"
        rows.add("", words)


def script(title: str, statements: Sequence[str]) -> Iterator[Block]:
    """Statements that carry out a plan, which nobody ran; nothing without statements."""
    if statements:
        yield Heading(title)
        yield Verbatim("\n".join(f"{each};" for each in statements), close=True)


def chart_of_sizes(sizes: Sequence[SizeBin], policy: Policy) -> Iterator[Block]:
    """A chart of the rows by class size, with a mark at k; nothing if there are no sizes."""
    if not sizes:
        return
    unit = "Rows" if policy.entity is None else "Entities"
    by = "number of matching rows" if policy.nulls == Nulls.WILDCARD else "class size"
    total = sum(each.rows for each in sizes)
    bars = []
    for each in sizes:
        if each.low == policy.k:
            bars.append(Bar("", None, [f"── k = {count(policy.k)} ──"]))
        tone = Tone.RISK if each.low < policy.k else Tone.KEPT
        bars.append(Bar(each.range, each.rows, [percent(Fraction(each.rows, total)), count(each.rows)], tone))
    yield Chart(f"{unit} by {by}", total, bars)
