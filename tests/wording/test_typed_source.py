"""Suggested commands name the source as it was typed, with its settings, but never with a secret."""

import pytest

from qidsql.wording.texts import typed_as, typed_source


@pytest.mark.parametrize(
    "typed",
    [
        "env:CLINIC",
        "postgresql://me@db.example.org:5433/clinic?sslmode=verify-full&sslrootcert=/etc/ca.pem",
        "postgres://me%40home@[::1]/clinic",
        "postgresql:///clinic?host=/run/postgresql",
        "sc://spark:15002",
    ],
)
def test_a_source_without_a_secret_is_suggested_as_typed(typed: str) -> None:
    with typed_as(typed):
        assert typed_source("a label") == typed
    assert typed_source("a label") == "a label"


@pytest.mark.parametrize(
    "typed",
    [
        "postgresql://me:secret@db/clinic",
        "postgresql://me:sec@ret@db/clinic",
        "postgresql://me@db/clinic?password=secret",
        "postgresql://me@db/clinic?sslpassword=secret",
        "host=db password=secret",
        "sc://spark:15002/;token=secret",
        "patients.parquet",
    ],
)
def test_any_other_source_is_suggested_by_its_label(typed: str) -> None:
    with typed_as(typed):
        assert typed_source("a label") == "a label"


def test_a_source_from_the_environment_is_suggested_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QIDSQL_URL", "postgresql://me:secret@db/clinic")
    with typed_as(None):
        assert typed_source("a label") == "env:QIDSQL_URL"
