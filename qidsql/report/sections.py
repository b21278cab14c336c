"""Blocks that reports share: the source and the columns searched, the cost, a written copy, class sizes."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from qidsql.core.copies import Script
from qidsql.core.policy import EACH_ROW, Policy
from qidsql.core.results import Account, Disclosed, LeftOut, SearchAccount
from qidsql.core.tables import FILES, Nulls
from qidsql.linkage.join_columns import JoinedColumns
from qidsql.linkage.joinable import Containment
from qidsql.measures.disclosure_limits import limits_among
from qidsql.measures.profiles import ClassProfile, SizeBin
from qidsql.report.blocks import (
    Bar,
    Block,
    Chart,
    Fields,
    Grid,
    Head,
    Heading,
    Labelled,
    Report,
    Sentence,
    Tone,
    Verbatim,
)
from qidsql.search.result import Certificate
from qidsql.wording.texts import count, counted, decimal, few, percent, plural, ratio, seconds, size, typed_source

# Suggestions for the next command to run.


def command(verb: str, account: Account, options: str = "") -> str:
    """A command on the same source, table, entity and NULL semantics, with these options."""
    policy = account.policy
    given = f" --entity {shlex.quote(policy.entity)}" if policy.entity else ""
    given += f" --entity {EACH_ROW}" if policy.each_row else ""
    given += f" --known-rows {policy.known_rows}" if policy.known_rows and verb in ("audit", "protect") else ""
    given += f" --nulls {policy.nulls}" if policy.nulls != Nulls.EQUAL else ""
    where = " (and your --where)" if policy.where else ""  # it can contain values, and reports are shared
    table = "" if account.kind == "file" else f" {shlex.quote(account.table)}"  # a file is one table
    return f"qidsql {verb} {shlex.quote(typed_source(account.source))}{table}{options}{given}{where}"


def roles(policy: Policy) -> str:
    """The options that give roles to columns."""
    given = (
        ("-c", policy.columns),
        ("--exclude", policy.exclude),
        ("--identifier", policy.identifiers),
        ("--sensitive", policy.sensitive),
    )
    return "".join(f" {option} {shlex.quote(name)}" for option, names in given for name in names)


def kept(names: Sequence[str]) -> str:
    """The options that keep columns in a copy."""
    return "".join(f" --keep {shlex.quote(name)}" for name in names)


def weights(account: SearchAccount) -> str:
    """The option that gives weights to columns."""
    given = ",".join(f"{name}={weight}" for name, weight in account.weights.items())
    return f" --weights {shlex.quote(given)}" if given else ""


def copy_step(verb: str, account: SearchAccount, options: str) -> tuple[str, str]:
    """The command that writes the protected copy, on the same columns, with its purpose."""
    kept = " --keep-identifiers" if account.policy.keep_identifiers else ""
    into = " --into NAME" + (".parquet" if account.kind in FILES else "")
    return command(verb, account, options + roles(account.policy) + weights(account) + kept + into), "writes the copy"


def column_set(names: Sequence[str], option: str = "-c") -> str:
    """The options that name a column set."""
    return "".join(f" {option} {shlex.quote(name)}" for name in names)


def criterion(policy: Policy) -> str:
    """The option that gave a masking its criterion."""
    return policy.criteria[-1].options


def limits(policy: Policy) -> str:
    """The options that limit what is disclosed about sensitive columns."""
    found = limits_among(policy.criteria)
    named = dict.fromkeys(each.sensitive for each in found)
    return "".join((*(f" --sensitive {shlex.quote(name)}" for name in named), *dict.fromkeys(e.options for e in found)))


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
    if account.weights:
        weights = ", ".join(f"{name}={weight}" for name, weight in account.weights.items())
        found.add("Weights", f"{weights}; others 1")
    left_out_facts(found, account)
    return found


UNCONFIRMED = "proposed only, which nobody has confirmed; to search these too, name each column (-c)"


def left_out_facts(rows: Fields, account: SearchAccount) -> None:
    """Adds the columns that were left out, and the notes."""
    for left_out in by_reason((each.name, each.reason) for each in account.left_out):
        rows.add("Left out", left_out)
    if any(each.proposed for each in account.left_out):
        rows.add("", UNCONFIRMED)
    for note in account.notes:
        rows.add("Note", note)


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


def script(title: str, statements: Sequence[str], kind: Script | None = None) -> Iterator[Block]:
    """Statements that carry out a plan, which nobody ran; nothing without statements."""
    if statements:
        yield Heading(title)
        end = "" if kind is Script.DBT else ";"
        yield Verbatim("\n".join(f"{each}{end}" for each in statements), close=True)


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


# What is disclosed about sensitive columns, for the terminal.


EXCEEDING = "Exceeding"


def exceeding(profile: ClassProfile) -> list[str]:
    """For each limit on disclosure: the share of the rows in classes that exceed it."""
    return [percent(Fraction(each.rows, profile.rows)) for each in profile.disclosing]


def disclosed_lines(found: Sequence[Disclosed], policy: Policy) -> Iterator[str]:
    """One paragraph for each sensitive column, and one more for whoever knows the other sensitive columns too."""
    first: dict[str, int] = {}
    for each in found:
        own = first.setdefault(each.sensitive, len(each.known))
        yield _sentence(each, policy, len(each.known) - own)


def _sentence(found: Disclosed, policy: Policy, others: int = 0) -> str:
    """The figures in words a lawyer understands; the last `others` of the known columns are sensitive themselves."""
    figures, column = found.figures, found.sensitive
    audited = len(found.known) - others
    who = f"whoever knows {'this column' if audited == 1 else f'these {audited} columns'}"
    who += f" and {few(found.known[audited:])}" if others else ""
    unit = "row" if policy.entity is None else f"entity ({policy.entity})"
    units = "rows" if policy.entity is None else f"entities ({policy.entity})"
    if not figures.rows:
        return f"{column}: there is nothing to disclose"
    if figures.values == 1:
        return f"{column} has the same value in every {unit}: it is known to everybody"
    if figures.revealed:
        known = f"{count(figures.revealed)} {unit if figures.revealed == 1 else units}"
        text = f"{who} knows the {column} of {known} ({percent(figures.share_revealed)})"
        if figures.revealed_null:
            text += f", of {count(figures.revealed_null)} that it is NULL"
    else:
        text = f"{who} knows the {column} of nobody for certain: each class has at least {figures.fewest_values} values"
    if figures.nearly_revealed:
        text += f"; of {count(figures.nearly_revealed)} more if NULL means unknown"
    before, after, large = figures.guess_before, figures.guess_after, figures.guess_in_large
    if before is not None and after is not None:
        text += f". Best guess: right for {percent(after)}, for {percent(before)} without knowing anything"
        if large is not None and figures.rows_in_large != figures.rows:
            text += f"; in classes of {figures.k} or more for {percent(large)}"
    return text


# The columns on which two tables are joined.


SHOWN_PAIRS = 8  # of the pairs that were not taken
NEARLY = 0.5  # of the values of one column in the other: pairs below are not shown


def joined_columns(left: str, joined: Sequence[JoinedColumns], given: bool, compared: Sequence[Containment]) -> Report:
    """The joined columns, as `given` by the user or with their grounds, and pairs that were nearly joined."""
    taken = [each for each in compared if each.joinable]
    near = [each for each in compared if not each.joinable and each.strength >= NEARLY]
    if taken:
        yield _pairs("Joinable", taken, left)
    if given:
        yield Sentence(f"Joined on {', '.join(map(str, joined)) or 'the columns given'}, as given.")
    elif joined and any(_pair(each, left) not in joined for each in taken):
        yield Sentence("Joined on: " + ", ".join(f"{pair.left} = {pair.right}" for pair in joined), close=True)
    if near:
        yield _pairs("Not taken", near[:SHOWN_PAIRS], left)
        if len(near) > SHOWN_PAIRS:
            yield Sentence(f"... {plural(len(near) - SHOWN_PAIRS, 'more pair')} in the JSON", close=True)
    if taken or near:
        explained = "a in b: the share of the different values of column a that column b has too; b in a likewise."
        yield Sentence(explained, close=True)


def _pair(found: Containment, left: str) -> JoinedColumns:
    own, other = (found.left, found.right) if str(found.left.table) == left else (found.right, found.left)
    return JoinedColumns(own.column, other.column)


def _pairs(title: str, found: Sequence[Containment], left: str) -> Grid:
    heads = [Head(f"{title} (a=b)", text=True), Head("a in b"), Head("b in a"), Head("ground", text=True, leaves=1)]
    rows = []
    for each in found:
        pair = _pair(each, left)
        shares = (each.left_in_right, each.right_in_left)
        if str(each.left.table) != left:
            shares = shares[::-1]
        rows.append((f"{pair.left} = {pair.right}", *map(percent, shares), each.ground))
    return Grid(heads, rows)


# The measures of column sets as columns of a table.


def measure_columns(policy: Policy, profiles: Sequence[ClassProfile | None]) -> list[Head]:
    """The columns for these profiles: classes, the ratios (of rows only), smallest class, share below k, limits.

    With wildcard NULLs there are no classes, and their figures are omitted.
    """
    wildcard = policy.nulls == Nulls.WILDCARD
    ratios = [] if policy.entity else [Head("Separation", leaves=2)]
    if not wildcard:
        ratios = [Head("Values"), *([] if policy.entity else [Head("Distinct", leaves=3)]), *ratios]
    limits = max((len(each.disclosing) for each in profiles if each is not None), default=0)
    return [*ratios, Head("Smallest"), Head(f"Below {policy.k}"), *[Head(EXCEEDING)] * limits]


def measures(profile: ClassProfile | None, columns: Sequence[Head], places: tuple[int, int]) -> list[str]:
    """A cell for each of `measure_columns`; the distinct and the separation ratio with so many decimal places."""
    if profile is None:
        return ["not measured", *[""] * (len(columns) - 1)]
    ratios = [] if profile.entities else [ratio(profile.separation_ratio, places[1])]
    if not profile.wildcard:
        distinct = [] if profile.entities else [ratio(profile.distinct_ratio, places[0])]
        ratios = [count(profile.classes), *distinct, *ratios]
    return [*ratios, count(profile.smallest), percent(profile.share_below_k), *exceeding(profile)]
