"""`qidsql help`: what people ask, in the words in which they ask it, leads to a page or a term."""

import pytest

from qidsql.cli.help import places_of, text_about, topics
from qidsql.errors import UnknownName
from qidsql.wording.manual import PAGES_OF_TERMS, SECTIONS, has_words, page_text, terms
from tests.commandline import inside

# Questions of public threads, by their numbers in ../shared/MANUAL.md: words of the question, and the page or the term
# that answers it.
QUESTIONS = {
    1: ("staging", "Copy"),
    2: ("init", "policy"),
    3: ("log", "privacy"),
    4: ("million", "scale"),
    5: ("joinable", "persons"),
    6: ("threshold", "Threshold"),
    7: ("joined", "Join"),
    8: ("hashed", "Pseudonym"),
    9: ("HIPAA", "De-identified"),
    10: ("safe harbor", "De-identified"),
    11: ("free text", "Free text"),
    12: ("singling out", "Singling out"),
    13: ("survey", "risk"),
    14: ("min-count", "reports"),
    15: ("sign", "reports"),
    16: ("differential privacy", "Differential privacy"),
    17: ("earlier release", "release"),
    18: ("erasure", "Personal data"),
    19: ("weights", "risk"),
    20: ("missing value", "NULL"),
    21: ("wildcard", "NULL"),
    22: ("blanked", "audit"),
    23: ("violates", "keys"),
    24: ("distinction", "Distinct ratio"),
    25: ("prosecutor", "Highest and average risk"),
    26: ("household", "Household"),
    27: ("suda", "Unsafe combination"),
    28: ("optimal", "Proved optimal, bound"),
    29: ("key variable", "Quasi-identifier"),
    30: ("violating k-anonymity", "Below k"),
    31: ("synthetic", "Synthetic data"),
    32: ("several rows", "persons"),
    33: ("candidate key", "Key"),
    34: ("weights", "keys"),
    35: ("NULL", "NULL"),
    36: ("fk", "Class (equivalence class)"),
    37: ("local suppression", "Suppressed"),
    38: ("coarser", "Generalization"),
    39: ("Snowflake", "sources"),
    40: ("coverage", "policy"),
    41: ("dbt", "policy"),
    42: ("exit code", "reports"),
    43: ("cron", "pipelines"),
    44: ("pandas", "shells"),
    45: ("data frame", "shells"),
    46: ("generalization", "Generalization"),
    47: ("set-valued data", "Entity with several rows"),
}


def test_no_question_is_left_out() -> None:
    assert [*QUESTIONS] == [*range(1, 48)]


@pytest.mark.parametrize("number", QUESTIONS, ids=str)
def test_a_question_leads_to_its_answer(number: int) -> None:
    words, answer = QUESTIONS[number]
    if answer in topics():
        assert answer in {place.page for place in places_of(words)} | {words}
    else:
        assert f"**{answer}**: " in text_about(words)


def test_a_listed_section_has_the_words() -> None:
    found = places_of("NULL")
    assert found
    assert [each for each in found if f"# {each.heading}\n" not in page_text(each.page)] == []
    assert [each for each in found if not each.line.endswith(" ...") and not has_words(each.line, "null")] == []


def test_the_dictionary_is_complete_and_read_as_it_is_written() -> None:
    assert len(terms()) == sum(page_text(each).count("\n### ") for each in PAGES_OF_TERMS) > 50
    assert {each.section for each in terms()} == {*SECTIONS}
    assert [each for each in terms() if not (each.meaning and all(each.words))] == []
    assert len({each.name for each in terms()}) == len(terms())
    occurring = {each.name for each in terms() if each.occurs_in("smaller than 5-anonymous, below 11")}
    assert occurring == {"k-anonymous, smallest class", "Below k", "Anonymous"}


def test_what_is_nowhere_is_an_error() -> None:
    with pytest.raises(UnknownName, match="no page or term zzz in the manual; qidsql help lists the pages"):
        text_about("zzz")
    with pytest.raises(UnknownName, match="did you mean quasi-identifier"):
        text_about("quasi-identifer")


def test_words_need_no_quotes() -> None:
    assert inside("help", "key", "variable").out == inside("help", "Key-Variable").out.replace(
        "Key-Variable", "key variable"
    )
