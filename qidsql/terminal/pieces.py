"""Parts that reports share: verdict, account, a grid, a bar."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.core.results import Account, LeftOut, SearchAccount, Verdict
from qidsql.search.result import Certificate
from qidsql.wording.numbers import count, counted, decimal, few, plural, seconds, size

GREEN = "bold green"
COLOURS = {
    Verdict.FINISHED: GREEN,
    Verdict.PASS: GREEN,
    Verdict.VIOLATION: "bold red",
    Verdict.INCONCLUSIVE: "bold yellow",
}
NOTHING_LEFT = "no cell value left the engine"
WORTH_SAYING = 10_000_000  # bytes
EIGHTHS = " ▏▎▍▌▋▊▉█"  # of a character
CODES_LEFT = "each distinct row left the engine as codes, not values; codes of few values can be decoded"


def print_verdict(console: Console, verdict: Verdict, reason: str) -> None:
    """Prints the verdict and its reason."""
    line = grid()
    line.add_row(Text(verdict.upper(), style=COLOURS[verdict]), reason)
    console.print(line)
    console.print()


def facts(account: SearchAccount) -> Table:
    """A grid that begins with the source and the columns searched."""
    found = grid()
    rows = "" if account.rows is None else f", {plural(account.rows, 'row')}"
    if account.entities is not None:
        rows = f", {plural(account.entities, 'entity', 'entities')} ({account.policy.entity})"
    rows += " that meet --where" if account.policy.where else ""
    found.add_row("Source", f"{account.source}, {account.kind} {account.table}{rows}")
    found.add_row("", f"{account.read_by}; {account.snapshot}")
    if account.columns:
        found.add_row("Searched", f"{few(account.columns)}. {account.policy.null_rule}")
    for left_out in by_reason((each.name, each.reason) for each in account.left_out):
        found.add_row("Left out", left_out)
    if account.weights:
        found.add_row(
            "Weights", ", ".join(f"{name}={weight}" for name, weight in account.weights.items()) + "; others 1"
        )
    for note in account.notes:
        found.add_row("Note", note)
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


def work_done(account: Account) -> str:
    """Statements, the rounds in which they were sent, and scans."""
    sent = f"{plural(account.statements, 'statement')} in {plural(account.rounds, 'round')}"
    return f"{sent}, at most {plural(account.scans, 'scan')}{_bytes_read(account)}"


def _bytes_read(account: Account) -> str:
    """What they read, if that is more than a few pages."""
    if account.bytes_read is None or account.bytes_read < WORTH_SAYING:
        return ""
    return f" of {'at most' if account.bytes_exact else 'about'} {size(account.bytes_read)}"


def print_cost(console: Console, account: Account, written: str | None = None, values: str = NOTHING_LEFT) -> None:
    """Prints the cost of the work, unfinished parts, and which values left the engine."""
    console.print()
    for unfinished in account.unfinished:
        line = grid()
        line.add_row(Text("Unfinished", style="yellow"), unfinished)
        console.print(line)
    done = "only read" if written is None else f"only {written} was written"
    profiled = f", {plural(account.sets_profiled, 'column set')} profiled" if account.sets_profiled else ""
    cost = work_done(account)
    console.print(f"{cost}, {seconds(account.seconds)}{profiled}; {done}, {values}.")


def copy_facts(
    rows: Table,
    target: str,
    copied: Sequence[str],
    not_copied: Sequence[LeftOut],
    protected: Sequence[str],
) -> None:
    """Adds the columns of a written copy: all, those without protection, and those not copied."""
    rows.add_row("Written", f"{target}: {few(copied)}")
    unprotected = [name for name in copied if name not in protected]
    if unprotected:
        rows.add_row(
            "Unprotected",
            f"{few(unprotected)}: copied unchanged, not audited; leave out columns that identify people (--identifier)",
        )
    for left_out in by_reason((each.name, each.reason) for each in not_copied):
        rows.add_row("Not copied", left_out)
    if not_copied:
        rows.add_row("", "a copy has the protected columns and sensitive ones (--sensitive), which stay unchanged")


def grid() -> Table:
    """A grid of two columns: labels and text."""
    found = Table.grid(padding=(0, 2))
    found.add_column(no_wrap=True, min_width=11)
    found.add_column(overflow="fold")
    return found


def bar(part: int, whole: int, width: int) -> str:
    """A bar in steps of 1/8 character; `whole` is `width` characters. Rounded up, so that only 0 is empty."""
    eighths = -(-max(0, part) * width * 8 // max(1, whole))
    return "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")


def bar_length(text: str) -> float | None:
    """The characters that a bar fills; None for any other text."""
    return sum(map(EIGHTHS.index, text)) / 8 if text and set(text) <= set(EIGHTHS) else None
