"""The report of a release: first the sheet to sign, then the evidence."""

from collections.abc import Iterator
from fractions import Fraction

from qidsql.commands.audit.report import report as audit_report
from qidsql.commands.release.command import NAMESPACE, Line, LineState, ReleaseResult, StatedRisk
from qidsql.core.results import Verdict
from qidsql.report.blocks import (
    Block,
    Cell,
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
from qidsql.wording.texts import POLICY_FILE, count, few, moment, plural, ratio, written_as

TONES = {
    LineState.MET: Tone.KEPT,
    LineState.NOT_MET: Tone.RISK,
    LineState.NOT_EXAMINED: Tone.UNKNOWN,
    LineState.PERSON: Tone.PLAIN,
}
ORDER = (LineState.NOT_MET, LineState.NOT_EXAMINED, LineState.MET)


def report(result: ReleaseResult) -> Report:
    """The report."""
    word = "NOT DECIDED" if result.verdict is Verdict.INCONCLUSIVE else ""
    yield Outcome(result.verdict, result.reason, word)
    yield _sheet(result)
    yield Heading("What was examined", "each line on the same columns of the same bytes")
    yield _lines([each for state in ORDER for each in result.predicate.lines if each.state is state])
    yield from _boxes([each for each in result.predicate.lines if each.state is LineState.PERSON])
    yield from _risks(result)
    yield from _signature()
    yield Heading("Evidence: the audit of these bytes")
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
    for label, text in stated.declared.facts:
        rows.add(label, text)
    if not stated.declared.recipient:
        rows.add("Recipient", "not named: the policy file has no [release] recipient")
    made = f", table {stated.of}" if stated.of else ""
    rows.add("Policy", f"{_in_groups(stated.policy_hash)}{made}")
    for each in stated.checklists:
        computed = f"{count(each.computed)} of {plural(each.lines, 'line')} computed"
        rows.add("Checklist", f"{each.title} ({each.text}): {computed}, {count(each.for_a_person)} for a person")
        if each.note:
            rows.add("", each.note)
    rows.add("Checked", f"{moment(result.account.started)}, {result.account.read_by}")
    return rows


def _risks(result: ReleaseResult) -> Iterator[Block]:
    """The risks against what is allowed; whether that is kept, the lines say."""
    declared = result.predicate.declared
    attack = (
        f"an attack has the probability {declared.attempt}, as declared"
        if declared.attempt
        else "an attack is certain, as in public"
    )
    yield Heading("Risk", f"for {declared.recipient or 'nobody named'}: {attack}")
    heads = [Head("Risk", text=True), Head("Measured"), Head("Allowed"), Head("Of what, and how", text=True)]
    yield Grid(heads, [list(_risk(each)) for each in result.predicate.risks])


def _risk(found: StatedRisk) -> Iterator[str | Cell]:
    yield found.name
    yield Cell("not measured", Tone.UNKNOWN) if found.risk is None else ratio(min(found.risk, Fraction(1)), 4)
    yield found.limit or "no limit named"
    yield f"{found.about}: {found.measured}"


def _in_groups(digits: str) -> str:
    """A hash in groups, which people can compare."""
    kind, _, digits = digits.rpartition(":")
    groups = [digits[place : place + 16] for place in range(0, len(digits), 16)]
    return " ".join([kind, *groups]).strip()


def _lines(found: list[Line]) -> Grid:
    heads = [Head(each, text=True) for each in ("Line", "State", "Required → measured")]
    rows: list[list[str | Cell]] = []
    for each in found:
        state = Cell("accepted", Tone.UNKNOWN) if each.exception else Cell(str(each.state), TONES[each.state])
        accepted = f"; accepted: {each.exception}" if each.exception else ""
        limit = f" ({each.threshold})" if each.threshold else ""
        rows.append([each.name, state, f"{each.asks}{limit} → {each.measured}{accepted}"])
    return Grid(heads, rows)


def _boxes(found: list[Line]) -> Iterator[Block]:
    if found:
        yield Heading("For a person to say", "no computation can answer these")
        boxes = Fields()
        for each in found:
            measured = f" → {each.measured}" if each.measured else ""
            boxes.add(f"☐ {each.name}", f"{each.asks} ({each.text}){measured}")
        yield boxes


def _signature() -> Iterator[Block]:
    """How to sign the JSON, and how whoever receives it checks it. qidsql holds no key."""
    yield Heading("Signature")
    yield Sentence(
        "Who signs release.json answers for the boxes, the recipient and the dates; the file is named by its hash."
    )
    yield Verbatim(
        f"ssh-keygen -Y sign -n {NAMESPACE} -f KEY release.json\n"
        f"ssh-keygen -Y verify -n {NAMESPACE} -f allowed_signers \\\n"
        "  -I NAME -s release.json.sig < release.json\n"
        "qidsql verify release.json FILE",
        close=True,
    )
    yield Sentence(
        "minisign -S -m release.json does it too, or cosign attest-blob with the predicate of the file.", close=True
    )
