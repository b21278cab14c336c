"""The meaning of a name: split into words, looked up in the vocabulary. Case, accents and separators do not matter."""

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from qidsql.core.files import refuse_pipe
from qidsql.core.tables import PolicyRole, TableName
from qidsql.errors import UsageError

# The meaning of column and table names, as vocabulary.toml has it.


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


def _in_file(text: str) -> tuple[str, ...]:
    return tuple(" ".join(term.split()) for term in text.split(",") if term.strip())


def _concept(written: dict[str, Any]) -> Concept:
    return Concept(
        written["meaning"],
        PolicyRole(written["role"]),
        tuple(term for language in LANGUAGES for term in _in_file(written.get(language, ""))),
        _in_file(written.get("codes", "")),
        written.get("doubt", ""),
        written.get("of_things", False),
    )


_WRITTEN = tomllib.loads((Path(__file__).parent / "vocabulary.toml").read_text(encoding="utf-8"))
CONCEPTS = tuple(_concept(each) for each in _WRITTEN["concept"])
WORDS = {kind: _in_file(text) for kind, text in _WRITTEN["words"].items()}


# Existing labels of a column: dbt meta, security labels, comments.
#
# A label's text may contain anything, also cell values, so it is never passed on: only the role it was recognised as.


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


# Labels of columns in a dbt project: `meta` and tags, from its manifest.json or from a schema.yml.


Labels = dict[tuple[str, str, str], list[tuple[str, str]]]  # schema (may be empty), table, column in small letters
GROUPS = ("models", "seeds", "snapshots")  # of a schema.yml, beside its sources
FALSE = (False, None, "", "false", "no", "none")


def read_labels(path: Path) -> Labels:
    """The labels of columns in a dbt file. Raises UsageError."""
    refuse_pipe(path, f"--dbt {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--dbt {path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UsageError(f"--dbt {path} cannot be read: expected UTF-8 text") from None
    document = _json(text, path) if path.suffix.lower() == ".json" else _yaml(text, path)
    labels: Labels = {}
    found = False
    for schema, table, column in _columns(document):
        found = True
        name = str(column.get("name", "")).casefold()
        texts = [text for place in (column, column.get("config")) if isinstance(place, dict) for text in _texts(place)]
        for text in texts:
            labels.setdefault((schema.casefold(), table.casefold(), name), []).append(("dbt meta", text))
    if not found:
        raise UsageError(
            f"--dbt {path} describes no column; expected target/manifest.json, or a schema.yml with models or sources"
        )
    return labels


def labels_of(labels: Labels, table: TableName, column: str) -> list[tuple[str, str]]:
    """The labels of a column; a schema.yml does not name the schemas of models."""
    low = column.casefold()
    keys = ((table.schema.casefold(), table.name.casefold(), low), ("", table.name.casefold(), low))
    return [label for key in keys for label in labels.get(key, [])]


def _columns(document: object) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Schema, table and description of each column."""
    root = _dict(document)
    nodes = [*_dict(root.get("nodes")).values(), *_dict(root.get("sources")).values()]
    if nodes:  # a manifest
        for node in map(_dict, nodes):
            name = node.get("alias") or node.get("identifier") or node.get("name") or ""
            for column in map(_dict, _dict(node.get("columns")).values()):
                yield str(node.get("schema") or ""), str(name), column
        return
    for group in GROUPS:
        for node in map(_dict, _list(root.get(group))):
            name = node.get("alias") or _dict(node.get("config")).get("alias") or node.get("name") or ""
            for column in map(_dict, _list(node.get("columns"))):
                yield "", str(name), column
    for source in map(_dict, _list(root.get("sources"))):
        for node in map(_dict, _list(source.get("tables"))):
            for column in map(_dict, _list(node.get("columns"))):
                yield (
                    str(source.get("schema") or source.get("name") or ""),
                    str(node.get("identifier") or node.get("name") or ""),
                    column,
                )


def _texts(place: Mapping[str, Any]) -> Iterator[str]:
    """Each meta entry as `key value`, without the value if it only says yes; each tag alone."""
    for key, value in _pairs(_dict(place.get("meta"))):
        if value is True or str(value).lower() in ("true", "yes"):
            yield f"{key}"
        elif value not in FALSE and str(value).lower() not in FALSE:
            yield f"{value}" if key.rpartition(".")[2] in ("role", "privacy", "classification") else f"{key} {value}"
        elif "pii" in key.lower() or "personal" in key.lower():
            yield "no pii"
    tags = place.get("tags")
    yield from map(str, [tags] if isinstance(tags, str) else _list(tags))


def _pairs(meta: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """The entries of nested meta, their keys joined by dots. Only words and flags, no longer texts."""
    for key, value in meta.items():
        if isinstance(value, dict):
            yield from _pairs(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            yield from ((f"{prefix}{key}", each) for each in value if isinstance(each, (str, bool)))
        elif isinstance(value, (str, bool)) or value is None:
            yield f"{prefix}{key}", value


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _json(text: str, path: Path) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        line = f", at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UsageError(f"--dbt {path} is not valid JSON{line}") from None


def _yaml(text: str, path: Path) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", at line {mark.line + 1}" if mark is not None else ""
        raise UsageError(f"--dbt {path} is not valid YAML{line}") from None


WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")  # of the folded text: ZIPCode is ZIP and Code
MOST_WORDS = 6  # words in a term
LETTERS_OF_PART = 5  # letters that a term needs to be recognised inside of a longer word (Patientendiagnose)
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


@dataclass(frozen=True, slots=True)
class Hit:
    """A concept found in a name. `exact` is False if the term is only a part of a longer word."""

    concept: Concept
    first: int
    last: int
    exact: bool = True


def words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case, without accents and digits: BirthDate2 is birth, date."""
    return tuple(word.lower() for word in WORD.findall(_folded(name)))


@cache
def find(name: tuple[str, ...]) -> Hit | None:
    """The concept of a name: the longest term found, the last one of several."""
    best: tuple[tuple[bool, int, int], Hit] | None = None
    for first in range(len(name)):
        for last in range(first + 1, min(len(name), first + MOST_WORDS) + 1):
            joined = "".join(name[first:last])
            for exact, concept, length in _readings(joined):
                rank = (exact, length, first)
                if best is None or rank > best[0]:
                    best = (rank, Hit(concept, first, last, exact))
    return best and best[1]


def find_whole(name: str) -> Concept | None:
    """The concept that has this whole name as a code."""
    return _codes().get(_plain(name))


def is_name(name: Sequence[str]) -> bool:
    """Whether the name ends like the name of something."""
    return bool(name) and name[-1] in _listed("name")


def is_part_of_name(name: Sequence[str]) -> bool:
    """Whether the name only says which of a person's names it is: FIRST, LAST."""
    return len(name) == 1 and name[0] in _listed("part_of_name")


def without_number(name: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words of the numbered thing, if a name is that of a number (patient_id, id_patient, user_ref); else None."""
    numbers = _listed("number")
    if name and name[-1] in numbers:
        return name[:-1]
    if len(name) > 1 and name[0] in numbers:
        return name[1:]
    if len(name) == 1:  # patientid, Kundennummer
        for number in sorted(numbers, key=len, reverse=True):
            rest = name[0].removesuffix(number)
            if rest != name[0] and (rest in _people() or (len(number) > 3 and _singular(rest) in _people())):
                return (rest,)
    return None


def is_aspect(name: Sequence[str], hit: Hit) -> bool:
    """Whether a word after the concept makes the name another thing: phone_type, has_email."""
    aspects = _listed("aspect")
    behind = name[hit.last :]
    return any(word in aspects for word in behind) or name[0] in ("has", "is", "own", "hat", "ist", "tiene", "es")


def is_not_the_amount(name: Sequence[str], hit: Hit) -> bool:
    """Whether a name of money continues with how or when it is paid, so is no amount: payment_type, pay_frequency."""
    return hit.concept.meaning == "money" and any(word in _listed("not_the_amount") for word in name[hit.last :])


def person(name: Sequence[str], anywhere: bool = False) -> str | None:
    """The word for a person at the end of a name (or `anywhere` in it), None if there is none."""
    people = _people()
    for word in reversed(name) if anywhere else name[-1:]:
        if word in people or _singular(word) in people:
            return word
    return None


def numbered_person(name: tuple[str, ...]) -> str | None:
    """The word for the person, if a name is that of a person's number: patient_id, code_client. No count of persons."""
    numbered = without_number(name)
    if numbered is None and len(name) > 1 and "code" in (name[0], name[-1]):
        numbered = name[1:] if name[0] == "code" else name[:-1]
    who = person(numbered or ())
    return None if who is not None and who == name[-1] and _singular(who) in _people() - {who} else who


def is_bare_number(name: Sequence[str]) -> bool:
    """Whether the name is that of a number, and does not say of what."""
    return len(name) == 1 and name[0] in _listed("bare_number")


def is_number_in_studies(name: Sequence[str]) -> bool:
    """Whether the name is what studies call the number of a person."""
    return "".join(name) in _listed("number_in_studies")


def is_one_person(name: Sequence[str]) -> bool:
    """Whether the name is the word for one person that tables are about: subject."""
    singular = len(name) == 1 and _singular(name[0]) not in _people() - set(name)
    return singular and name[0] in _listed("subject") - _listed("sign")


def is_employed(word: str) -> bool:
    """Whether the word is for persons who are in a table as employees of somebody."""
    return bool({word, _singular(word)} & _listed("employed"))


def is_subject(word: str) -> bool:
    """Whether the word is for persons that tables are about, not for staff."""
    return word in _listed("subject") or _singular(word) in _listed("subject")


def _readings(joined: str) -> Iterable[tuple[bool, Concept, int]]:
    """The concepts that a word, or words without spaces, can mean."""
    terms = _terms()
    if concept := terms.get(joined) or terms.get(joined.removesuffix("s")):
        yield True, concept, len(joined)
        return
    longest = max(map(len, terms))
    for length in range(
        min(longest, len(joined) - 2), LETTERS_OF_PART - 1, -1
    ):  # German compounds: the last part counts
        for part in (joined[-length:], joined[:length]):
            if part not in _listed("never_a_part") and (concept := terms.get(part)):
                yield False, concept, length
                return


def _folded(text: str) -> str:
    """The text without accents; ß as ss."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def _spellings(term: str) -> set[str]:
    """A term without spaces, with umlauts as one letter and as two."""
    return {"".join(words(spelling)) for spelling in {term, term.translate(UMLAUTS)}}


@cache
def _terms() -> dict[str, Concept]:
    """Each term's concept; of two concepts with the same term the first."""
    found: dict[str, Concept] = {}
    for concept in CONCEPTS:
        for term in concept.terms:
            for spelling in _spellings(term):
                found.setdefault(spelling, concept)
    return found


@cache
def _codes() -> dict[str, Concept]:
    return {_plain(code): concept for concept in CONCEPTS for code in concept.codes}


def _plain(name: str) -> str:
    """A name in lower case without separators, with its digits."""
    return re.sub(r"[\W_]", "", name.lower())


@cache
def _listed(kind: str) -> frozenset[str]:
    """The words of the vocabulary that are of this kind, as they are looked for."""
    return frozenset(spelling for word in WORDS[kind] for spelling in _spellings(word))


@cache
def _people() -> frozenset[str]:
    return _listed("subject") | _listed("employed") | _listed("staff")


def _singular(word: str) -> str:
    for ending in ("nen", "en", "s", "n"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word.removesuffix(ending)
    return word
