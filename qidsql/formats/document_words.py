"""What the formats read in a document alike."""

import re
from collections.abc import Mapping
from typing import Any

from qidsql.core.policy import Policy
from qidsql.operations.document import Kind, criteria

BROKEN = frozenset({"error", "inconclusive"})  # no verdict on the table: never to be taken for a pass
CLOSED = frozenset({"gone", "excepted"})
TITLES = {
    "k-anonymity": "The table is below k",
    "direct-identifier": "A direct identifier is among the columns",
    "below-k": "A minimal column set is below k",
    "key": "A column set tells every row apart",
    "distinct": "A column set reaches the distinct ratio",
    "separation": "A column set reaches the separation ratio",
    "rows-at-risk": "A column set puts too many rows at risk",
}
HELP = {
    "k-anonymity": "Rows that agree on all audited columns form a class. The policy asks for k rows in each at least.",
    "direct-identifier": "Nearly every row has a value of its own in this column. Declare that it is not published, or "
    "leave it out.",
    "below-k": "The values of these columns together single out groups of fewer than k; no part of the set does.",
    "key": "No two rows agree on these columns: who knows them finds each row.",
    "distinct": "Classes / rows of these columns is not below the limit of the policy.",
    "separation": "The share of pairs of rows that these columns tell apart is not below the limit of the policy.",
    "rows-at-risk": "The share of rows in classes below k is not below the limit of the policy.",
}
COVERAGE = "coverage"  # the kind of what the policy does not cover: no finding of a table
UNCOVERED = (
    "The policy does not cover all of its source",
    "Tables that no entry of the policy names are not audited, and such columns perhaps not as what they are. "
    "qidsql init --update adds them to the policy file.",
)
CAUSES = frozenset({"below-k", "key"})  # why a table fails, not a requirement of the policy


def open_findings(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The findings that stand: not gone, not accepted by an exception."""
    return [finding for finding in table["findings"] if finding["state"] not in CLOSED]


def place(table: Mapping[str, Any]) -> str:
    """Source and table as one name."""
    return f"{table['source']}: {table['table']}"


def file_of(document: Mapping[str, Any]) -> str | None:
    """The configuration file of the run; None for a single audit."""
    config = document["config"]
    return None if config is None else str(config["path"])


def violating(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What the policy does not cover, and has to."""
    return [gap for gap in gaps(document) if gap["severity"] == "violation"]


def gaps(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What the policy and the sources do not agree about."""
    return list(document["coverage"]["gaps"]) if document["coverage"] else []


def sentence(table: Mapping[str, Any]) -> str:
    """Why the table has its verdict; for a broken audit, what broke."""
    return str(table["error"] or table["reason"])


def unit_of(audit: Mapping[str, Any]) -> str:
    """What is counted in the classes."""
    return "entities" if audit["policy"]["entity"] else "rows"


def whole_of(profile: Mapping[str, Any]) -> Any:
    """How many rows, or entities, a profile counts."""
    return profile.get("rows", profile.get("entities"))


def criterion_of(audit: Mapping[str, Any], kind: str) -> str | None:
    """The name of the criterion by which an audit searched for findings of that kind."""
    searched = criteria(Policy.read(**audit["policy"]))
    return searched[Kind(kind)].name if kind in searched else None


def column_sets(audit: Mapping[str, Any], search: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What one search of an audit has found."""
    return [found for found in audit["column_sets"] if found["criterion"] == search["criterion"]]


def without_controls(text: str) -> str:
    """The text without characters that XML and pages cannot hold; U+FFFD stands in their place."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)
