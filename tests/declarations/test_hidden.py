"""The hidden form of a result: what no annotation shows is hidden, and stays so when it is written and read again."""

from dataclasses import dataclass, fields
from typing import Annotated

from qidsql.commands.audit.command import AuditResult
from qidsql.core.results import Account
from qidsql.declarations.hidden import COUNTED, WHOLE, Range, Shown, fields_shown, hidden, hidden_form
from qidsql.declarations.results import loaded, plain, schema_of
from qidsql.operations.document import RunResult
from qidsql.operations.table_run import Finding, TableRun


@dataclass(frozen=True)
class Policy:
    k: int


@dataclass(frozen=True, slots=True)
class Part:
    name: Shown[str]
    size: int
    sizes: tuple[int, ...]
    new: int = 7


@dataclass(frozen=True, kw_only=True)
class Outcome:
    verdict: Shown[str]
    parts: Shown[tuple[Part, ...]]
    worst: Shown[Part | None]
    policy: Annotated[Policy, WHOLE]
    rows: Annotated[int | None, COUNTED]
    ratio: float = 0.5

    @property
    def words(self) -> str:
        return f"{self.verdict} of {self.rows}"


OUTCOME = Outcome(verdict="pass", parts=(Part("a", 3, (1, 2)),), worst=Part("b", 4, ()), policy=Policy(5), rows=3)


def test_a_field_without_a_mark_is_hidden() -> None:
    found = hidden(OUTCOME, lambda value: value)
    part = {"name": "a", "size": None, "sizes": [], "new": None}
    assert plain(found) == {
        "verdict": "pass",
        "parts": [part],
        "worst": part | {"name": "b"},
        "policy": {"k": 5},
        "rows": None,
        "ratio": None,
    }
    assert found.words == "pass of None"
    assert isinstance(found, Outcome)
    assert fields_shown(OUTCOME).keys() == {"verdict", "parts", "worst", "policy"}


def test_a_hidden_form_is_read_as_it_is_written_and_has_a_schema() -> None:
    form = hidden_form(Outcome)
    found = loaded(form, plain(hidden(OUTCOME, lambda value: value)) | {"rows": {"at_least": 1, "at_most": 9}})
    assert found.rows == Range(1, 9)
    assert found.parts[0] == hidden_form(Part)(name="a")
    kinds = schema_of([form], "hidden")["$defs"]["HiddenPart"]["properties"]
    assert kinds["name"] == {"type": "string"}
    assert kinds["size"] == {"type": "null"}


def test_what_an_audit_hides() -> None:
    """Written again: a field that somebody shows has to be looked at, since it could reveal counts of rows."""

    def kept_back(kind: type) -> set[str]:
        return {each.name for each in fields(hidden_form(kind)) if each.init and each.default in (None, ())}

    assert kept_back(Account) == {"rows", "bytes_read", "bytes_exact"}
    assert kept_back(Finding) == {"measures", "text", "was"}
    assert kept_back(AuditResult) == {
        *(
            "entities",
            "estimate",
            "class_sizes",
            "disclosed",
            "interrupted",
            "histories",
            "numbers_of_rows",
            "unicity",
            "resolutions",
            "coarser",
            "blanked",
            "cut_short",
        ),
    }
    assert kept_back(TableRun) == {"audit", "findings", "trend", "fingerprint", "file_fingerprint"}
    assert kept_back(RunResult) == {"min_count", "tables"}
