"""The roles that names suggest on the headers of public tables, and names that were decided wrongly before."""

import time
from importlib import resources

import pytest

from qidsql.column_roles.proposal import TableEvidence, propose
from qidsql.core.tables import CatalogColumn, CatalogTable, TableName
from tests.benchmarks.public_headers import SEEN, UNSEEN
from tests.benchmarks.vocabulary import judged, table_of_manual


def proposed(name: str) -> tuple[str, bool]:
    """The role of a column of this name alone, and whether it is to check."""
    column = CatalogColumn(name, "BIGINT")
    found = propose(TableEvidence(CatalogTable(TableName("survey"), "table", (column,))), column)
    return str(found.role), bool(found.doubt)


@pytest.mark.parametrize(
    "name",
    [
        "household_weights",
        "household_weight",
        "PWGTP",
        "PWGTP80",
        "perwt",
        "HHWT",
        "wtfinl",
        "rb050",
        "RB050",
        "finalwgt",
        "asecwt",
        "pspwght",
        "db090",
    ],
)
def test_weights_of_surveys_are_no_attribute(name: str) -> None:
    assert proposed(name) == ("other", False)


@pytest.mark.parametrize("name", ["visits", "nvisits", "emergency", "num_visits", "number_inpatient"])
def test_counts_of_visits_are_no_moment(name: str) -> None:
    assert proposed(name) == ("sensitive", True)


@pytest.mark.parametrize(
    "name", ["health", "chronic", "platelet", "hba1c", "creatinine", "inctot", "py010g", "charge_degree"]
)
def test_what_nobody_knows_of_another_is_sensitive(name: str) -> None:
    assert proposed(name) == ("sensitive", False)


@pytest.mark.parametrize("name", ["insurance", "medicaid", "RB090", "household", "visit_date", "visit"])
def test_what_others_see_is_audited(name: str) -> None:
    assert proposed(name)[0] == "quasi-identifier"


def test_a_code_counts_only_as_the_whole_name() -> None:
    assert proposed("health_center_city") == ("quasi-identifier", False)
    assert proposed("emergency_contact_phone") == ("direct identifier", False)


def test_a_name_of_200_kilobytes_is_read_at_once() -> None:
    """Parts of a name that are longer than any term were looked up too: ten seconds."""
    started = time.process_time()
    assert proposed("k" * 200_000 + "nummer")
    assert time.process_time() - started < 1


def test_the_table_of_the_manual_is_what_the_command_prints() -> None:
    manual = resources.files("qidsql").joinpath("help/figures.md").read_text(encoding="utf-8")
    assert table_of_manual() in manual, "python -m tests.benchmarks vocabulary"


def test_no_quasi_identifier_of_a_public_table_is_left_out_without_a_word() -> None:
    """But for two: an address that is U or R, and whether there is a telephone service, both called identifiers."""
    left = [
        name
        for headers in (SEEN, UNSEEN)
        for _, name, right, role, kind in judged(headers)
        if kind == "wrong" and "Q" in right and role != "quasi-identifier"
    ]
    assert left == ["PhoneService", "address"]
