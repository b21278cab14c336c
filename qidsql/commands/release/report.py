"""The report of a release: first the sheet to sign, then the evidence."""

import hashlib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil

from qidsql.commands.audit.report import report as audit_report
from qidsql.commands.release.command import NAMESPACE, Line, LineState, ListRead, ReleaseResult, StatedRisk
from qidsql.core.options import fraction
from qidsql.core.results import Verdict
from qidsql.report.blocks import (
    Bar,
    Block,
    Chart,
    Fields,
    Grid,
    Head,
    Heading,
    Next,
    Outcome,
    Report,
    Sentence,
    Tone,
    Verbatim,
)
from qidsql.wording.texts import POLICY_FILE, count, few, moment, percent, plural, ratio, written_as

TONES = {
    LineState.MET: Tone.KEPT,
    LineState.NOT_MET: Tone.RISK,
    LineState.NOT_EXAMINED: Tone.UNKNOWN,
    LineState.PERSON: Tone.PLAIN,
}
RECORDED = "as recorded, protected only by the signature"
OF_BARS = 10_000  # the parts of a whole risk


def report(result: ReleaseResult) -> Report:
    """The report."""
    word = "NOT DECIDED" if result.verdict is Verdict.INCONCLUSIVE else ""
    yield Outcome(result.verdict, result.reason, word)
    yield _sheet(result)
    stated, lines = result.predicate, result.predicate.lines
    for title, found in (
        ("Not met", [each for each in lines if each.verdict is Verdict.VIOLATION]),
        ("Not examined", [each for each in lines if each.verdict is Verdict.INCONCLUSIVE]),
        ("Accepted though not met or not examined", [each for each in lines if each.exception]),
    ):
        yield from _lines(title, found, stated.checklists)
    yield from _boxes([each for each in lines if each.state is LineState.PERSON], stated.checklists)
    yield from _risks(result)
    yield from _signature(result)
    met = [each for each in lines if each.state is LineState.MET]
    yield Heading(
        "Evidence", "each line on the same columns of the same bytes; more on them: qidsql help release", folds=True
    )
    yield from _how_to_sign()
    yield from _lines("Met", met, stated.checklists)
    yield from _checklists(result)
    yield from _before_and_after(result)
    yield from _plan(result)
    yield Heading("The audit of these bytes")
    with written_as(POLICY_FILE):
        shown = list(audit_report(result.predicate.audit))
    yield from (each for each in shown if not isinstance(each, Outcome | Next))


def opening(result: ReleaseResult) -> str:
    """What was found, in words for people who sign."""
    found = result.predicate.lines
    accepted = sum(each.exception is not None for each in found)
    wrong, open_ = (
        sum(each.state is state and each.exception is None for each in found)
        for state in (LineState.NOT_MET, LineState.NOT_EXAMINED)
    )
    if wrong:
        return f"Do not release this: {plural(wrong, 'requirement is', 'requirements are')} not met."
    if open_ or not found:
        return f"This is not decided: {plural(open_, 'requirement was', 'requirements were')} not examined."
    but = f" {plural(accepted, 'requirement is', 'requirements are')} accepted though not met." if accepted else ""
    boxes = sum(each.state is LineState.PERSON for each in found)
    signer = f" {plural(boxes, 'line')} below only you can answer." if boxes else ""
    return f"Everything that can be computed is met.{but}{signer}"


def _sheet(result: ReleaseResult) -> Fields:
    """What leaves, for whom, by which texts."""
    stated, rows = result.predicate, Fields()
    for subject in result.subject:
        hashed = ", ".join(f"{kind} {_in_groups(text)}" for kind, text in subject.digest.items())
        rows.add("Released", f"{subject.name}: {hashed or 'not identified'}")
    size = "" if stated.rows is None else f"{plural(stated.rows, 'row')}, "
    roles = [f"{each.name} ({each.role or 'no role'})" for each in stated.columns]
    rows.add("", f"{size}{plural(len(stated.columns), 'column')}: {few(roles, 40)}")
    declared = dict(stated.declared.facts)
    recipient = declared.pop("Recipient", "not named: the policy file has no [release] recipient")
    rows.add("Recipient", "; ".join([recipient, *(f"{label.lower()}: {text}" for label, text in declared.items())]))
    made = f", table {stated.of}" if stated.of else ""
    rows.add("Policy", f"{_in_groups(stated.policy_hash)}{made}{_met(stated.lines, 'policy')}")
    titles = [f"{each.name}: {each.title}; {_computed(stated.lines, each)}" for each in stated.checklists]
    rows.add_all("Checklists", titles or ["none was named: only what every release must keep was asked"])
    own = [dict(each.digest) for each in result.subject]
    names = [each.name for each in stated.earlier or () if dict(each.digest) not in own]
    none = "none but these bytes is recorded" if stated.earlier else "none is recorded"
    recorded = few(names) if names else none if stated.earlier is not None else "there is no history"
    recorded = "none, as was declared; there is no history" if stated.first else recorded
    rows.add("Earlier", f"{recorded}; what left without a record is not known")
    rows.add("Checked", f"{moment(result.account.started)}, {result.account.read_by}")
    return rows


def _computed(lines: Sequence[Line], of: ListRead) -> str:
    """How many lines of a checklist were computed, how many were not examined, and how many only a person can say."""
    states = [each.state for each in lines if each.checklist == of.name]
    computed = states.count(LineState.MET) + states.count(LineState.NOT_MET)
    open_, people = states.count(LineState.NOT_EXAMINED), states.count(LineState.PERSON)
    unexamined = f", {count(open_)} not examined" if open_ else ""
    head = f"{count(computed)} of {plural(of.lines, 'line')} computed{_met(lines, of.name)}"
    return f"{head}{unexamined}, {count(people)} for a person to say"


def _met(lines: Sequence[Line], checklist: str) -> str:
    """Which lines are met, that stand behind the sheet."""
    found = [each.item for each in lines if each.checklist == checklist and each.state is LineState.MET]
    return f" (met: {', '.join(found)})" if found else ""


def _risks(result: ReleaseResult) -> Iterator[Block]:
    """The risks against what is allowed; whether that is kept, the lines say."""
    declared = result.predicate.declared
    attack = (
        f"an attack has the probability {declared.attempt}, as declared"
        if declared.attempt
        else "an attack is certain, as in public"
    )
    yield Heading("Risk", f"for {declared.recipient or 'nobody named'}: {attack}")
    if bars := [each for found in result.predicate.risks for each in _bars(found)]:
        yield Chart("", OF_BARS, bars)
    about = Fields()
    for each in result.predicate.risks:
        unmeasured = (line for line in result.predicate.lines if each.risk is None and each.measured in line.measured)
        line = next(unmeasured, None)
        about.add(each.name, f"{each.about}: {f'not measured, see {line.name}' if line else each.measured}")
    yield about


def _bars(found: StatedRisk) -> Iterator[Bar]:
    """A risk, and below it what is allowed, to the same scale."""
    if found.risk is None:  # the line below says why
        return
    limit = fraction("limit", found.limit) if found.limit else None
    tone = Tone.PLAIN if limit is None else Tone.RISK if found.risk > limit else Tone.KEPT
    risk = min(found.risk, Fraction(1))
    yield Bar(found.name, ceil(OF_BARS * risk), [ratio(risk, 4)], tone)
    if found.limit is not None and limit is not None:
        text = f"{ratio(limit, 4)} ({found.limit})" if "/" in found.limit else found.limit
        yield Bar("  allowed", ceil(OF_BARS * limit), [text])


def _checklists(result: ReleaseResult) -> Iterator[Block]:
    found = Fields()
    for each in result.predicate.checklists:
        found.add_all(each.title, [each.text, *([each.note] if each.note else [])])
    if found.rows:
        yield Heading("Checklists")
        yield found


def _before_and_after(result: ReleaseResult) -> Iterator[Block]:
    """The table that it was made from beside the released rows: its risk in the last run, and what was lost."""
    source = result.predicate.source
    yield Heading("Before and after", RECORDED)
    yield _fingerprint(result)
    if source is None:
        yield Sentence(
            f"{result.predicate.of} is in no recorded run, so its risk is not known: qidsql run records it.", close=True
        )
    rows = [*_risk_before_and_after(result)]
    rows += [measure for each in result.predicate.evidence for measure in each.utility]
    if rows:
        day = f", {source.started:%Y-%m-%d}" if source else ""
        yield Grid([Head("", text=True), Head(f"{result.predicate.of}{day}"), Head("Released")], rows)


def _risk_before_and_after(result: ReleaseResult) -> Iterator[tuple[str, str, str]]:
    source, profile = result.predicate.source, result.predicate.audit.profile
    if source is None:
        return
    known = profile if profile is not None and profile.rows and not profile.wildcard else None
    smallest = known.smallest if known else None
    below = f"{percent(Fraction(source.share_below_k))}, k = {source.k}" if source.share_below_k is not None else "?"
    after = f"{percent(Fraction(known.rows_below_k, known.rows))}, k = {known.k}" if known else "?"
    yield "Rows", _counted(source.rows), _counted(result.predicate.rows)
    yield "Smallest class", _counted(source.smallest), _counted(smallest)
    yield "Highest risk", _one_in(source.smallest), _one_in(smallest)
    yield "Rows below k", below, after


def _fingerprint(result: ReleaseResult) -> Fields:
    """What the source was, by hashes."""
    read, run, found = result.predicate.source_read, result.predicate.source, Fields()
    hashed = ", ".join(f"{kind} {_in_groups(text)}" for kind, text in read.digest.items()) if read else ""
    why = read.unread if read else "the policy does not name where it is"
    found.add("Source", f"{result.predicate.of}: {hashed or why}")
    if run is not None:
        found.add("", f"its columns in run {run.run}: sha256 {_in_groups(run.columns)}")
    return found


def _plan(result: ReleaseResult) -> Iterator[Block]:
    """What other commands found: the plan, what was tried, what is lost."""
    yield Heading("Plan and utility", RECORDED)
    if not result.predicate.evidence:
        yield Sentence(
            "No plan and no comparison was named (evidence in [release]): how the rows were made, what else was tried "
            "and what they are still good for is not stated."
        )
    for each in result.predicate.evidence:
        found = Fields()
        found.add(f"{each.command} {each.table}", f"{each.verdict}: {each.reason}")
        for label, text in each.facts:
            found.add("", f"{label.lower()}: {text}")
        found.add("", f"{each.file}: sha256 {_in_groups(each.sha256)}")
        yield found


def _counted(number: int | None) -> str:
    return "?" if number is None else count(number)


def _one_in(smallest: int | None) -> str:
    return ratio(Fraction(1, smallest), 4) if smallest else "?"


def _in_groups(digits: str) -> str:
    """A hash in groups, which people can compare."""
    kind, _, digits = digits.rpartition(":")
    groups = [digits[place : place + 16] for place in range(0, len(digits), 16)]
    return " ".join([kind, *groups]).strip()


def _lines(title: str, found: list[Line], lists: Sequence[ListRead]) -> Iterator[Block]:
    if found:
        yield Heading(f"{title}: {plural(len(found), 'line')}")
        yield _listed(found, lists)


def _boxes(found: list[Line], lists: Sequence[ListRead]) -> Iterator[Block]:
    if found:
        yield Heading("For a person to say", "no computation can answer these")
        yield _listed(found, lists, "☐ ")


def _listed(found: list[Line], lists: Sequence[ListRead], sign: str = "") -> Fields:
    """Each line with what it asks; what was measured stands once below those that share it, and the text that a line is
    from only if it is not that of its list."""
    texts, rows = {each.name: each.text for each in lists}, Fields()
    alike: dict[tuple[str, str | None], list[Line]] = {}
    for each in found:
        alike.setdefault((each.measured, each.exception), []).append(each)
    for (measured, exception), lines in alike.items():
        limits = dict.fromkeys(f" ({each.threshold})" if each.threshold else "" for each in lines)
        pages = dict.fromkeys(each.more for each in lines if each.more != "release")
        accepted = f"; accepted: {exception}" if exception else ""
        told = (
            f"→ {measured}{accepted}{''.join(f' [qidsql help {page}]' for page in pages)}"
            if measured or exception
            else ""
        )
        shared = next(iter(limits)) if told and len(lines) > 1 and len(limits) == 1 else ""
        for each in lines:
            limit = f" ({each.threshold})" if each.threshold and not shared else ""
            source = f" [{each.text}]" if each.checklist in texts and each.text != texts[each.checklist] else ""
            own = f" {told}" if told and len(lines) == 1 else ""
            tone = Tone.UNKNOWN if each.exception else TONES[each.state]
            rows.add(f"{sign}{each.name}", f"{each.asks}{limit}{source}{own}", tone=tone)
        if told and len(lines) > 1:
            rows.add("", f"each of these {count(len(lines))}{shared} {told}")
    return rows


def _signature(result: ReleaseResult) -> Iterator[Block]:
    stated = hashlib.sha256(result.canonical_json().encode()).hexdigest()
    yield Heading("Decision and signature")
    yield Sentence(
        f"release.json has sha256 {_in_groups(stated)}. Who signs it, or this page, answers for the boxes. Recipient, "
        f"dates, roles, policy, source and plan are {RECORDED}."
    )


def _how_to_sign() -> Iterator[Block]:
    """How to sign the JSON, and how whoever receives it checks it. qidsql holds no key."""
    yield Heading("How to sign, and to check")
    yield Verbatim(
        f"ssh-keygen -Y sign -n {NAMESPACE} -f KEY release.json\n"
        f"ssh-keygen -Y verify -n {NAMESPACE} -f allowed_signers \\\n"
        "  -I NAME -s release.json.sig < release.json\n"
        "qidsql verify release.json FILE",
        close=True,
    )
    yield Sentence(
        "verify measures all that is not only recorded again on the file. "
        "minisign (-S -m release.json) and cosign (sign-blob) sign the same bytes; without a key of your own, cosign "
        "writes your name into a public log.",
        close=True,
    )
