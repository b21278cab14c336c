"""The columns that may identify the persons: by names and by whether they repeat, in a table as in its catalog."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from qidsql.column_roles.proposal import TableEvidence, ValueCounts, persons
from qidsql.core.tables import CatalogColumn, CatalogTable, TableName
from qidsql.measures.profiles import ClassSizes

ONCE = tuple(range(60))
OFTEN = tuple(i // 3 for i in range(60))
FEW = tuple(i % 4 for i in range(60))


def found(columns: Mapping[str, Sequence[int | None]], table: str = "t", type: str = "INTEGER") -> tuple[str, ...]:
    listed = tuple(CatalogColumn(name, type) for name in columns)
    counts = {}
    for name, values in columns.items():
        sizes = ClassSizes.counted(Counter(Counter(values).values()))
        counts[name] = ValueCounts(sizes.profile(2), values.count(None))
    return tuple(persons(TableEvidence(CatalogTable(TableName(table), "table", listed), measured=counts), {}))


PERSONS = """id ID nr Nr identifier uuid patient_id PatientID idPatient customer_no code_client patient_code
Kundennummer Kunden_Nr person_key SUBJECT_ID subjid USUBJID pid idcode persnr ssn nhs_number mrn subject Subject person
patient employee_id worker_no card_number device_id patient_nbr numéro_assuré doctor_id idno id_no idnr emp_no bsn
Versicherten_Nr codice_fiscale"""
OTHERS = """firm_id country year number num no key ref persons num_persons no_of_customers children people order_id
visit_id ward_no product_code insured zip_code household_size email"""


@pytest.mark.parametrize("name", PERSONS.split())
def test_a_column_that_is_named_like_the_persons_and_repeats_may_be_the_persons(name: str) -> None:
    assert found({name: OFTEN, "year": FEW}) == (name,)
    assert found({name: ONCE, "year": FEW}) == ()


@pytest.mark.parametrize("name", OTHERS.split())
def test_what_repeats_under_another_name_tells_nothing_of_persons(name: str) -> None:
    assert found({name: OFTEN, "year": FEW}) == ()


def test_a_person_without_a_number_has_many_values_and_is_no_flag() -> None:
    assert found({"member": OFTEN}) == ("member",)
    assert found({"member": FEW}) == found({"member": OFTEN}, type="BOOLEAN") == ()


def test_the_likeliest_are_the_persons() -> None:
    assert found({"doctor_id": OFTEN, "id": OFTEN, "employee_id": OFTEN, "ssn": OFTEN, "patient_id": OFTEN}) == (
        "patient_id",
    )
    assert found({"donor_id": OFTEN, "customer_id": OFTEN}) == ("donor_id", "customer_id")
    assert found({"doctor_id": OFTEN, "id": OFTEN}) == ("id",)
    assert found({"id": ONCE, "employee_id": OFTEN}) == ("employee_id",), "the number of the row, of a working day"


def test_rows_are_persons_where_their_number_is_unique() -> None:
    assert found({"patient_id": ONCE, "doctor_id": OFTEN, "ssn": OFTEN}) == ()
    assert found({"patient_id": (*range(50), *[None] * 10), "id": OFTEN}) == (), "NULLs are no persons"
    assert found({"id": ONCE, "doctor_id": OFTEN}) == ()
    assert found({"id": ONCE, "employee_id": OFTEN}, table="patients") == ()
    assert found({"id": ONCE, "patient_id": OFTEN}, table="patients") == ("patient_id",)
    assert found({"subject": ONCE, "user_id": OFTEN}) == ("user_id",), "of a letter"
