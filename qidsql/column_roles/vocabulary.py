"""The meaning of column and table names, as vocabulary.toml has it."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qidsql.core.tables import PolicyRole

DIRECT, QUASI, SENSITIVE, OTHER = (
    PolicyRole.DIRECT_IDENTIFIER,
    PolicyRole.QUASI_IDENTIFIER,
    PolicyRole.SENSITIVE,
    PolicyRole.OTHER,
)
LANGUAGES = ("en", "de", "fr", "es")


@dataclass(frozen=True, slots=True)
class Concept:
    """The content of a column, and its role in an audit."""

    meaning: str
    role: PolicyRole
    terms: tuple[str, ...]
    codes: tuple[str, ...]  # that count as a whole name, with their digits
    doubt: str  # why a person should check a hit; empty: no need
    of_things: bool  # things have it too, not only persons


def _listed(text: str) -> tuple[str, ...]:
    return tuple(" ".join(term.split()) for term in text.split(",") if term.strip())


def _concept(written: dict[str, Any]) -> Concept:
    return Concept(
        written["meaning"],
        PolicyRole(written["role"]),
        tuple(term for language in LANGUAGES for term in _listed(written.get(language, ""))),
        _listed(written.get("codes", "")),
        written.get("doubt", ""),
        written.get("of_things", False),
    )


_WRITTEN = tomllib.loads((Path(__file__).parent / "vocabulary.toml").read_text(encoding="utf-8"))
CONCEPTS = tuple(_concept(each) for each in _WRITTEN["concept"])
WORDS = {kind: _listed(text) for kind, text in _WRITTEN["words"].items()}
