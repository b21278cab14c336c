"""The proposed roles of columns, by their names and by what others wrote of them."""

from typing import Any

import pytest

from qidsql.column_roles import names
from qidsql.column_roles.names import CONCEPTS, recognised_label
from qidsql.column_roles.proposal import TableEvidence, propose
from qidsql.core.tables import CatalogColumn, CatalogTable, PolicyRole, TableName
from tests.judged_names import JUDGED

D, Q, S, OTHER = PolicyRole


def role_of(column: str, table: str = "patients", type: str = "VARCHAR", **column_facts: Any) -> PolicyRole:
    """The role proposed for a column when nothing was counted."""
    listed = CatalogColumn(column, type, **column_facts)
    return propose(TableEvidence(CatalogTable(TableName(table), "table", (listed,))), listed).role


# names

MEANT = {
    D: "first_name LastName SURNAME email E-Mail mail_address phone_number mobile ssn SocialSecurityNumber passport_no "
    "patient_id PatientID id_patient medical_record_number mrn iban credit_card_number license_plate ip_address "
    "username password photo street house_number Vorname Nachname Straße STRASSE Hausnummer Telefonnummer KundenNr "
    "Sozialversicherungsnummer Steuer_ID prénom nom_de_famille adresse téléphone numéro_sécurité_sociale courriel "
    "apellido1 apellido2 primer_nombre dirección dni correo_electrónico teléfono pasaporte notes Bemerkungen",
    Q: "birth_date DateOfBirth DOB age gender sex zip ZIPCode postcode city country nationality marital_status "
    "occupation education_level ethnicity admission_date latitude household_size height_cm Geburtsdatum Alter "
    "Geschlecht PLZ Wohnort Staatsangehörigkeit Familienstand Beruf Bundesland date_naissance date_de_naissance âge "
    "sexe code_postal ville profession état_civil nationalité fecha_nacimiento edad sexo código_postal ciudad "
    "profesión estado_civil nacionalidad phone_type has_email Aufnahmedatum",
    S: "diagnosis icd10_code icd_code disease medication blood_group hiv_status salary income religion union_member "
    "sexual_orientation conviction credit_score Diagnose Hauptdiagnose Krankheit Medikament Gehalt Konfession "
    "Gewerkschaft diagnostic maladie salaire médicament syndicat diagnóstico enfermedad medicamento sueldo religión",
    OTHER: "created_at updatedAt modified_by etl_batch_id row_version is_deleted fnlwgt erstellt_am geändert_am "
    "date_création fecha_creación",
}


@pytest.mark.parametrize("role", MEANT)
def test_names_in_four_languages(role: str) -> None:
    wrong = {name: got for name in MEANT[role].split() if (got := role_of(name)) != role}
    assert not wrong


def test_names_that_a_person_judged() -> None:
    asked = 0
    for table, roles in JUDGED.items():
        for role, columns in zip((D, Q, S), (roles[letter] for letter in "DQS"), strict=True):
            for column in columns.split():
                kind = "DATE" if "date" in column or column == "dob" else "VARCHAR"
                assert role_of(column, table, kind) == role, (table, column)
                asked += 1
    assert asked > 150


def test_how_money_is_paid_is_not_how_much() -> None:
    for name in ("payment_type", "PaymentMethod", "payment terms", "salary_currency", "Zahlungsart", "payment_date"):
        assert role_of(name) == Q, name
    for name in ("payment", "payment_amount", "monthly_payment", "loan_status", "salary"):
        assert role_of(name) == S, name


def test_every_term_of_the_vocabulary_is_found_and_means_one_thing() -> None:
    seen: dict[str, PolicyRole] = {}
    for concept in CONCEPTS:
        for term in concept.terms:
            for written in (term, term.upper(), term.title().replace(" ", ""), "_".join(term.split())):
                hit = names.find(names.words(written))
                assert hit is not None, (term, written)
                assert hit.exact, (term, written)
                assert hit.concept.role is concept.role, (term, written)
            joined = "".join(names.words(term))
            assert seen.setdefault(joined, concept.role) is concept.role, term


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("BirthDate2", "birth date"),
        ("ZIPCode", "zip code"),
        ("patientID", "patient id"),
        ("numéro-de.rue", "numero de rue"),
        ("STRASSE", "strasse"),
        ("Größe", "grosse"),
        ("__x__", "x"),
        ("2024", ""),
        ("患者", "患者"),
    ],
)
def test_words_of_a_name(name: str, parts: str) -> None:
    assert names.words(name) == tuple(parts.split())


def test_a_name_means_what_its_table_is_about() -> None:
    assert role_of("name", "patients") == D
    assert role_of("name", "Mitarbeiter") == D
    assert role_of("id", "customers") == D
    assert role_of("name", "hospitals") == Q
    assert role_of("name", "diagnoses") == S


def test_first_and_last_are_names_among_persons_alone() -> None:
    assert role_of("FIRST", "patients") == role_of("last", "employees") == D
    assert role_of("first", "pages") == Q
    assert role_of("last_visit", "patients") == Q


def test_no_name_at_all_is_audited_and_to_be_checked() -> None:
    listed = CatalogColumn("xq7", "INTEGER")
    found = propose(TableEvidence(CatalogTable(TableName("t"), "table", (listed,))), listed)
    assert found.role is Q
    assert found.doubt


# labels


@pytest.mark.parametrize(
    ("kind", "text", "role"),
    [
        ("security label anon", "MASKED WITH FUNCTION anon.fake_last_name()", D),
        (
            "security label anon",
            "MASKED WITH FUNCTION anon.generalize_daterange(x, 'decade')",
            Q,
        ),
        ("security label anon", "MASKED WITH VALUE 'CONFIDENTIAL'", D),
        ("security label k_anonymity", "QUASI IDENTIFIER", Q),
        ("security label k_anonymity", "INDIRECT IDENTIFIER", Q),
        ("dbt meta", "direct_identifier", D),
        ("dbt meta", "quasi-identifier", Q),
        ("dbt meta", "sensitive", S),
        ("dbt meta", "phi", S),
        ("dbt meta", "other", OTHER),
        ("dbt meta", "no pii", OTHER),
        ("dbt meta", "not sensitive", OTHER),
        ("dbt meta", "contains_pii", None),
        ("comment", "the town [quasi-identifier]", Q),
        ("comment", "role: sensitive", S),
        ("comment", "not a direct identifier but a quasi-identifier", Q),
        ("comment", "This is a direct identifier of the patient", D),
        ("comment", "Personal data under GDPR", None),
    ],
)
def test_labels_and_what_they_say(kind: str, text: str, role: PolicyRole | None) -> None:
    found = recognised_label([(kind, text)])
    assert found is not None
    assert found.role is role


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("comment", "the direct line to the ward, in a sensitive place of the house"),
        ("comment", "0 = no, 1 = yes"),
        ("comment", "not personal"),
        ("comment", "Not a direct identifier, no personal data"),
        ("security label anon", "NOT MASKED"),
        ("security label selinux", "system_u:object_r:sepgsql_table_t:s0"),
        ("dbt meta", "owner someone"),
    ],
)
def test_labels_that_say_nothing(kind: str, text: str) -> None:
    assert recognised_label([(kind, text)]) is None


def test_labels_win_over_names_and_an_unspecific_one_leaves_the_role_to_the_name() -> None:
    assert role_of("diagnosis", labels=(("comment", "role: quasi-identifier"),)) == Q
    assert role_of("birth_date", labels=(("dbt meta", "pii"),)) == Q
    assert role_of("xq7", labels=(("dbt meta", "pii"),)) == D
    assert role_of("xq7", labels=(("dbt meta", "sensitive"), ("comment", "role: quasi-identifier"))) == S


def test_when_is_no_secret_and_a_payment_has_a_number() -> None:
    for name in ("diagnosis", "surgery", "leave_start", "payment", "hiv_test"):
        assert role_of(name, type="DATE") == role_of(name, type="TIMESTAMP") == Q, name
        assert role_of(name) == S, name
    for name in ("payment_ref", "loan_number", "Kredit_Nr"):
        assert role_of(name) == Q, name
    for name in ("gross", "tax_withheld", "leave_type", "sick_note", "Krankmeldung"):
        assert role_of(name) == S, name
