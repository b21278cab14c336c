"""Existing labels of a column: dbt meta, security labels, comments.

A label's text may contain anything, also cell values, so it is never passed on: only the role it was recognised as.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from qidsql.column_roles.vocabulary import DIRECT, OTHER, QUASI, SENSITIVE
from qidsql.core.tables import PolicyRole

# Words for the roles, as labels write them: QUASI IDENTIFIER is PostgreSQL Anonymizer's, the others are common in dbt.
WRITTEN = (
    (QUASI, r"quasi[\s_-]*identif\w*|indirect[\s_-]*identif\w*|\bqid?\b|\bquasi\b"),
    (DIRECT, r"(?<!in)direct[\s_-]*identif\w*|\bidentifying\b|^\s*direct\s*$"),
    (
        SENSITIVE,
        r"\bsensitive([\s_-]*(attribute|data))?\b|special[\s_-]*categor\w*|\bphi\b|\bspi\b|gdpr[\s_-]*(art\w*[\s_.-]*)?9\b",
    ),
    (
        OTHER,
        r"^\s*(other|public)\s*$|\bnon[\s_-]*(pii|personal|sensitive)\b|\bnot[\s_-]*(pii|personal|sensitive)\b|\bno[\s_-]*pii\b",
    ),
)
PERSONAL = (
    r"\b(pii|personal([\s_-]*(data|information))?|personenbezogen\w*|gdpr|dsgvo|rgpd|personally[\s_-]*identif\w*)\b"
)
DENIED = (  # in prose: what follows says what the column is not
    r"\b(?:not?|non|nicht|kein\w*)\b[\s_-]*(?:an?\s+)?"
    r"(?:pii|personal\w*|personenbezogen\w*|(?:in)?direct[\s_-]*identif\w*|quasi[\s_-]*identif\w*|sensitive attribute)"
)
COARSENED = r"anon\.(generalize|noise|dnoise|random (date|int|zip)|add noise)"


@dataclass(frozen=True, slots=True)
class Label:
    """The role that a label gives; None if it only says that the column is about persons. `source` is its place."""

    role: PolicyRole | None
    source: str
    sure: bool = True


def recognised_label(labels: Iterable[tuple[str, str]]) -> Label | None:
    """The first label that gives a role: dbt before security labels before comments."""
    found = [label for kind, text in labels if (label := _read(kind, text)) is not None]
    found.sort(key=lambda label: (label.role is None, _rank(label.source)))
    return found[0] if found else None


def _rank(source: str) -> int:
    return next((place for place, begin in enumerate(("dbt", "security label")) if source.startswith(begin)), 2)


def _read(kind: str, text: str) -> Label | None:
    low = text.lower().replace("_", " ")
    if kind == "comment":
        return _written(" ".join(re.findall(r"\[([^\]]{0,60})\]", low)) or _marked(low), "comment") or _in_words(low)
    if kind.startswith("security label") and "masked" in low:
        if re.search(r"\bnot masked\b", low):
            return None
        if re.search(COARSENED, low):
            return Label(QUASI, f"{_source(kind)}: a rule makes it coarser")
        return Label(DIRECT, f"{_source(kind)}: a rule masks it", sure="function" in low)
    return _written(low, _source(kind))


def _source(kind: str) -> str:
    """The kind in a form that may be shown; the name of a provider comes from the database."""
    return re.sub(r"[^\w ]", "", kind)[:60]


def _marked(low: str) -> str:
    """The part of a comment after a mark such as `role:`."""
    return " ".join(re.findall(r"\b(?:qidsql|role|privacy|classification)\b\s*[:=]\s*([\w -]{1,40})", low))


def _in_words(low: str) -> Label | None:
    """Prose that names a role in full, and does not deny it."""
    low = re.sub(DENIED, " ", low)
    for role, pattern in (
        (QUASI, r"quasi[\s_-]*identif\w*"),
        (DIRECT, r"(?<!in)direct[\s_-]*identif\w*"),
        (SENSITIVE, r"\bsensitive attribute\b"),
    ):
        if re.search(pattern, low):
            return Label(role, "comment", sure=False)
    return Label(None, "comment", sure=False) if re.search(PERSONAL, low) else None


def _written(low: str, source: str) -> Label | None:
    for role, pattern in reversed(WRITTEN):  # "not sensitive" before "sensitive"
        if re.search(pattern, low):
            return Label(role, source)
    return Label(None, source) if re.search(PERSONAL, low) else None
