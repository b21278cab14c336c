"""Parts that reports share: the verdict, what was searched, what the search cost, a grid, a bar."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from qidsql.core.results import LeftOut, SearchAccount, Verdict
from qidsql.search.result import Certificate
from qidsql.wording.numbers import count, decimal, plural, seconds, some

COLOURS = {Verdict.FINISHED: "bold green", Verdict.VIOLATION: "bold red", Verdict.INCONCLUSIVE: "bold yellow"}
NOTHING_LEFT = "no cell value left the engine"
CODES_LEFT = "each distinct row left the engine as codes, not its values; codes of few values can be turned back"


def head(console: Console, outcome: Verdict, reason: str) -> None:
    """The outcome, and the answer beside it."""
    line = grid()
    line.add_row(Text(outcome.upper(), style=COLOURS[outcome]), reason)
    console.print(line)
    console.print()


def facts(work: SearchAccount) -> Table:
    """A grid that begins with what was searched."""
    found = grid()
    rows = "" if work.rows is None else f", {plural(work.rows, 'row')}"
    if work.entities is not None:
        rows = f", {plural(work.entities, 'entity', 'entities')} ({work.policy.entity})"
    rows += " that meet --where" if work.policy.where else ""
    found.add_row("Source", f"{work.source}, {work.kind} {work.table}{rows}")
    found.add_row("", f"{work.engine}; {work.snapshot}")
    if work.columns:
        found.add_row("Searched", f"{some(work.columns)}. {work.policy.null_rule}")
    reasons: dict[str, list[str]] = {}
    for each in work.left_out:
        reasons.setdefault(each.reason, []).append(each.name)
    for reason, names in reasons.items():
        found.add_row("Left out", f"{some(names)}: {reason}")
    if work.weights:
        found.add_row("Weights", ", ".join(f"{name}={weight}" for name, weight in work.weights.items()) + "; others 1")
    for note in work.notes:
        found.add_row("Note", note)
    return found


def certificate(rests_on: Certificate) -> str:
    """What a sampled answer rests on."""
    sizes = ", ".join(count(size) for size in rests_on.sizes)
    epsilon = "" if rests_on.epsilon is None else f"epsilon = {decimal(rests_on.epsilon)}, "
    measured = "measured on the full table" if rests_on.verified else "not measured on the full table"
    return (
        f"{sizes} {rests_on.unit}, {epsilon}delta = {decimal(rests_on.delta)}, seed {rests_on.seed}; "
        f"promise: {rests_on.promise}; {measured}"
    )


def foot(console: Console, work: SearchAccount, written: str | None = None, values: str = NOTHING_LEFT) -> None:
    """What the search took, what it left undone, and which values left the engine."""
    console.print()
    for unfinished in work.unfinished:
        line = grid()
        line.add_row(Text("Unfinished", style="yellow"), unfinished)
        console.print(line)
    done = "only read" if written is None else f"only {written} was written"
    profiled = f", {plural(work.sets_profiled, 'column set')} profiled" if work.sets_profiled else ""
    asked = f"{plural(work.statements, 'statement')}, at most {plural(work.scans, 'scan')}"
    console.print(f"{asked}, {seconds(work.seconds)}{profiled}; {done}, {values}.")


def copy_facts(
    rows: Table,
    target: str,
    copied: Sequence[str],
    not_copied: Sequence[LeftOut],
    protected: Sequence[str],
) -> None:
    """Adds what a written copy holds: its columns, those of them that nothing protects, and those left out of it."""
    rows.add_row("Written", f"{target}: {some(copied)}")
    bare = [name for name in copied if name not in protected]
    if bare:
        rows.add_row(
            "Unprotected",
            f"{some(bare)}: copied as they are, not audited; keep out what identifies people (--identifier)",
        )
    for each in not_copied:
        rows.add_row("Not copied", f"{each.name}: {each.reason}")


def grid() -> Table:
    """Two columns: what, and its words."""
    found = Table.grid(padding=(0, 2))
    found.add_column(no_wrap=True, min_width=11)
    found.add_column(overflow="fold")
    return found


def bar(part: int, whole: int, width: int) -> str:
    """A bar of eighths of a character; `whole` is `width` characters wide. Rounded up: what is there is seen."""
    eighths = -(-max(0, part) * width * 8 // max(1, whole))
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")
