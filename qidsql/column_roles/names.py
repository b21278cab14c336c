"""The meaning of a name: split into words, looked up in the vocabulary. Case, accents and separators do not matter."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from qidsql.column_roles.vocabulary import CONCEPTS, WORDS, Concept

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")  # of the folded text: ZIPCode is ZIP and Code
LONGEST = 6  # words in a term
PART = 5  # letters that a term needs to be recognised inside of a longer word (Patientendiagnose)
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
        for last in range(first + 1, min(len(name), first + LONGEST) + 1):
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
    for length in range(min(longest, len(joined) - 2), PART - 1, -1):  # German compounds: the last part counts
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
