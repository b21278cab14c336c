"""The options of one audit: what is refused, and when two policies ask the same question."""

import json
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from qidsql.commands.audit.command import AuditRequest
from qidsql.commands.graph.command import GraphRequest
from qidsql.commands.keys.command import KeysRequest
from qidsql.commands.protect.command import ProtectRequest
from qidsql.core.options import names
from qidsql.core.policy import Policy, PolicyOrigin, changed_settings, column_weights, question
from qidsql.declarations.results import loaded, plain
from qidsql.errors import TomlFileError, UsageError
from qidsql.measures.criteria import Distinct, RowsBelowK, Separation, Violates
from qidsql.wording.texts import POLICY_FILE, written_as

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 1}, "k must be at least 2, got 1"),
        ({"k": 0}, "k must be at least 2"),
        ({"distinct": Fraction(0)}, "--distinct must be above 0"),
        ({"separation": Fraction(-1, 2)}, "--separation must be above 0"),
        ({"rows_below_k": Fraction(11, 10)}, "--rows-below-k must be above 0 and at most 1"),
        ({"max_size": 0}, "--max-size must be more than 0"),
        ({"max_statements": 0}, "--max-statements must be more than 0"),
        ({"max_seconds": -0.5}, "--max-seconds must be more than 0"),
        ({"max_seconds": 0}, "--max-seconds must be more than 0"),
        ({"nulls": "other"}, "--nulls must be equal"),
        ({"nulls": "wildcard", "distinct": HALF}, "--distinct counts classes"),
        ({"nulls": "wildcard", "entity": "person"}, "do not go together"),
        ({"entity": "person", "distinct": HALF}, "measures rows"),
        ({"entity": "person", "separation": HALF}, "measures rows"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Policy(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"k": 2},
        {"distinct": Fraction(1), "separation": Fraction(1), "rows_below_k": Fraction(1)},
        {"rows_below_k": Fraction(1, 10**9)},
        {"max_size": 1, "max_statements": 1, "max_seconds": 0.001},
        {"nulls": "wildcard", "separation": HALF, "rows_below_k": HALF},
        {"entity": "person", "rows_below_k": HALF},
    ],
)
def test_what_can_be_is_taken(options: dict[str, Any]) -> None:
    policy = Policy(**options)
    assert {name: getattr(policy, name) for name in options} == options


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0.9", Fraction(9, 10)),
        (" 9/10 ", Fraction(9, 10)),
        ("90%", Fraction(9, 10)),
        ("0.5 %", Fraction(1, 200)),
        (0.1, Fraction(1, 10)),
        (1, Fraction(1)),
        (HALF, HALF),
        (None, None),
    ],
)
def test_ratios_are_read_exactly(written: Any, value: Fraction | None) -> None:
    assert Policy.read(distinct=written).distinct == value


@pytest.mark.parametrize("written", ["", "%", "half", "1/0", "0,9"])
def test_what_is_no_ratio_is_refused(written: str) -> None:
    with pytest.raises(UsageError, match=r"^--distinct must be a ratio such as 0\.9, 9/10 or 90%, got"):
        Policy.read(distinct=written)


def test_names_are_one_or_several_or_none() -> None:
    assert (names(None), names("ab"), names(["a", "b"]), names([])) == ((), ("ab",), ("a", "b"), ())
    policy = Policy.read(columns="zip", exclude=["a", "b"], rows_below_k="5%")
    assert (policy.columns, policy.exclude, policy.rows_below_k) == (("zip",), ("a", "b"), Fraction(1, 20))


def test_the_defaults_are_these() -> None:
    given = {name: value for name, value in plain(Policy()).items() if value not in (None, [])}
    assert given == {"k": 5, "keep_identifiers": False, "nulls": "equal"}
    assert Policy().null_rule == "A NULL counts as a value of its own."
    assert Policy(nulls="wildcard").null_rule == "A NULL matches anything."


def test_what_a_policy_file_gave_is_no_part_of_what_is_asked() -> None:
    origin = PolicyOrigin(file="qidsql.toml", line=3, unused=("distinct",), notes=("a note",))
    assert replace(Policy(), origin=origin) == Policy()
    asked = AuditRequest("t")
    given = replace(asked, given=frozenset({"k"}), awaits_policy=True, origin=origin)
    assert (given == asked, repr(given) == repr(asked), asked.no_policy, asked.awaits_policy) == (
        True,
        True,
        False,
        False,
    )


def test_what_was_taken_from_a_policy_file_is_said() -> None:
    origin = PolicyOrigin(file="qidsql.toml", line=3)
    assert origin.sentences == ("policy of qidsql.toml:3: nothing is set for this command",)
    origin = replace(origin, settings=("k = 3",), columns=("a", "b"), overruled=("c",), unused=("d",), notes=("e",))
    assert replace(origin, undecided=("f", "g")).sentences == (
        "policy of qidsql.toml:3: k = 3; roles of a, b",
        "of the policy, replaced by given options: c",
        "in the policy, but not used here: d",
        "roles marked CHECK in the policy, which nobody has confirmed: f, g",
        "e",
    )
    assert PolicyOrigin(file="qidsql.toml", settings=("k = 3",), notes=("e",)).sentences == ("e",)


def test_a_command_takes_the_settings_that_it_has() -> None:
    assert KeysRequest.taken() == ("k", "where", "entity", "nulls")
    assert GraphRequest.taken() == ("k", "entity")


def test_a_policy_is_written_as_people_type_it() -> None:
    policy = Policy(k=7, distinct=Fraction(9, 10), columns=("a", "b"), max_seconds=1.5)
    written = plain(policy)
    assert (written["k"], written["distinct"], written["columns"], written["max_seconds"]) == (
        7,
        "0.9",
        ["a", "b"],
        1.5,
    )
    assert loaded(Policy, written) == policy


def test_options_are_named_as_they_were_given() -> None:
    with written_as(POLICY_FILE), pytest.raises(UsageError, match=r"^max_size must be more than 0$"):
        Policy(max_size=0)


def test_each_ratio_is_one_more_criterion() -> None:
    assert Policy(k=3).criteria == (Violates(3),)
    policy = Policy(k=3, distinct=HALF, separation=Fraction(1, 3), rows_below_k=Fraction(1, 4))
    assert policy.criteria == (
        Violates(3),
        RowsBelowK(3, Fraction(1, 4)),
        Distinct(HALF),
        Separation(Fraction(1, 3)),
    )


def test_a_question_is_the_same_whatever_the_budget_and_the_order_of_columns() -> None:
    asked = question(Policy(k=3, exclude=("a", "b")))
    assert asked == question(Policy(k=3, exclude=("b", "a"), max_seconds=1, max_statements=9))
    others = ({"k": 4}, {"max_size": 2}, {"where": "a = 1"}, {"keep_identifiers": True}, {"exclude": ("a",)})
    fingerprints = {question(Policy(**{"k": 3, "exclude": ("a", "b"), **other})) for other in others}
    assert len(fingerprints | {asked}) == len(others) + 1
    assert len(asked) == 12


def test_settings_at_their_defaults_are_no_part_of_a_question() -> None:
    """So that a setting that a later version adds changes no fingerprint."""

    def fingerprint(*settings: tuple[str, object]) -> str:
        return sha256(json.dumps(settings).encode()).hexdigest()[:12]

    assert question(Policy()) == question(Policy(k=5, nulls="equal")) == fingerprint()
    assert question(Policy(nulls="wildcard", k=3)) == fingerprint(("k", 3), ("nulls", "wildcard"))


def test_changes_of_a_policy_are_said_without_conditions_and_columns() -> None:
    before = Policy(k=5, where="city = 'Oslo'", columns=("a",), max_seconds=1)
    now = Policy(k=2, where="city = 'Rome'", columns=("b",), distinct=HALF, max_seconds=9)
    assert changed_settings(before, now) == ["k 5 -> 2", "distinct none -> 0.5", "columns", "where"]
    assert changed_settings(now, now) == []
    assert changed_settings(Policy(), before) == ["columns", "where"]
    assert changed_settings(Policy(), Policy(keep_identifiers=True)) == ["keep_identifiers false -> true"]


@pytest.mark.parametrize(
    ("text", "found"), [("age = 3\nzip = 1", {"age": 3, "zip": 1}), ("age = 3.0", None), ("a = 0", None)]
)
def test_weights_of_a_file_are_positive_whole_numbers(tmp_path: Path, text: str, found: dict[str, int] | None) -> None:
    file = tmp_path / "weights.toml"
    file.write_text(f"[weights]\n{text}\n")
    if found is None:
        with pytest.raises(TomlFileError, match="expected a positive whole number"):
            column_weights(file)
    else:
        assert column_weights(file) == found


@pytest.mark.parametrize("given", [{"age": 0}, {"age": -1}, {"age": True}, {"age": 1.5}, {"age": "3"}, {1: 2}])
def test_weights_of_python_are_positive_whole_numbers(given: Any) -> None:
    with pytest.raises(UsageError, match="takes a positive whole number per column"):
        column_weights(given)


def test_an_empty_name_is_no_column_of_persons() -> None:
    """Of an unset variable of a shell, for example: rows would be counted, and called persons."""
    for make in (lambda: Policy(entity=""), lambda: KeysRequest("t", entity=""), lambda: AuditRequest("t", entity="")):
        with pytest.raises(UsageError, match=r"--entity is empty: name the column of persons, or row"):
            make()


def test_hierarchies_that_are_not_there_are_an_error_whatever_needs_them(tmp_path: Path) -> None:
    for make in (AuditRequest, ProtectRequest):
        make("t", hierarchies=str(tmp_path))
        with pytest.raises(UsageError, match=r"--hierarchies .*levels\.toml is not there: it takes a folder"):
            make("t", hierarchies=str(tmp_path / "levels.toml"))
