"""The terms of reports, explained for readers without a background in statistics: the manual's page of terms."""

from qidsql.wording.terms import SECTIONS, TermEntry, terms

OF_AUDITS, OF_COMMANDS, _ = SECTIONS


def glossary_of_audits() -> list[TermEntry]:
    """The terms that the page of an audit or a run explains."""
    return [each for each in terms() if each.section == OF_AUDITS]


def terms_in(text: str) -> list[TermEntry]:
    """The terms that occur in a report."""
    return [each for each in terms() if each.section in (OF_AUDITS, OF_COMMANDS) and each.occurs_in(text)]
