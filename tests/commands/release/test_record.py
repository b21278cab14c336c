"""What is recorded: a statement that holds on the bytes, named as check and verify name them."""

from pathlib import Path

import duckdb
import pytest

from tests.commandline import inside
from tests.commands.release.test_release import PEOPLE, holds, policy


def database(folder: Path) -> None:
    """The released rows as the table `public_patients` of a database beside the policy."""
    policy(folder)
    with duckdb.connect(str(folder / "w.duckdb")) as connection:
        connection.execute("CREATE TABLE public_patients (age INTEGER, state VARCHAR, diagnosis VARCHAR)")
        connection.executemany("INSERT INTO public_patients VALUES (?, ?, ?)", PEOPLE)
    given = ("--of", "patients", "-o", "release.json")
    inside("release", "check", "w.duckdb", "public_patients", *given, cwd=folder)


def change(folder: Path, statement: str) -> None:
    with duckdb.connect(str(folder / "w.duckdb")) as connection:
        connection.execute(statement)


@pytest.mark.parametrize("table", [(), ("public_patients",)])
def test_a_table_that_changed_since_is_not_recorded(table: tuple[str, ...], tmp_path: Path) -> None:
    database(tmp_path)
    given = ("release", "record", "release.json", "w.duckdb", *table)
    change(tmp_path, "UPDATE public_patients SET diagnosis = 'z' WHERE rowid = 0")
    outcome = inside(*given, cwd=tmp_path)
    assert outcome.code == 2 and f"does not hold on {' '.join(('w.duckdb', *table))}: " in outcome.line
    change(tmp_path, "UPDATE public_patients SET diagnosis = 'a' WHERE rowid = 0")
    assert inside(*given, cwd=tmp_path).code == 0


def test_the_rows_may_be_kept_under_another_name(tmp_path: Path) -> None:
    """The table is overwritten each month; the released rows stay where they were copied to."""
    database(tmp_path)
    change(tmp_path, "CREATE TABLE kept AS FROM public_patients ORDER BY ALL")
    assert holds(inside("verify", "release.json", "w.duckdb", "kept", cwd=tmp_path))
    assert inside("release", "record", "release.json", "w.duckdb", "kept", cwd=tmp_path).code == 0
    change(tmp_path, "INSERT INTO public_patients VALUES (99, 'n', 'a')")
    found = inside("release", "check", "w.duckdb", "public_patients", "--of", "patients", cwd=tmp_path).out
    assert "1 of 1 row added since main.public_patients in classes of fewer than 5" in " ".join(found.split())


def test_only_a_release_may_have_another_table(tmp_path: Path) -> None:
    database(tmp_path)
    inside("audit", "w.duckdb", "public_patients", "-o", "audit.json", cwd=tmp_path)
    outcome = inside("verify", "audit.json", "w.duckdb", "kept", cwd=tmp_path)
    assert outcome.code == 2 and "this result of audit is about main.public_patients: leave it out" in outcome.line


def test_a_new_table_that_nobody_listed_makes_a_release_due(tmp_path: Path) -> None:
    """Whoever may join it need not wait until somebody adds it to the policy. One that was there before is no news."""
    policy(tmp_path)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE patients (age INTEGER, state VARCHAR, diagnosis VARCHAR)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?)", PEOPLE)
        connection.execute("CREATE TABLE old_staff AS SELECT age, state FROM patients")
        connection.execute(f"COPY patients TO '{tmp_path / 'out.parquet'}'")
    inside("run", cwd=tmp_path)
    inside("release", "check", "out.parquet", "--of", "patients", "-o", "release.json", cwd=tmp_path)
    assert inside("release", "record", "release.json", "out.parquet", cwd=tmp_path).code == 0
    assert "due again" not in inside("run", cwd=tmp_path).err
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE staff AS SELECT age AS birth_year, state FROM patients")
        connection.execute("CREATE TABLE settings AS SELECT true AS dark")
    said = inside("run", cwd=tmp_path).err
    assert said.strip().endswith("a new table that the policy does not list: main.staff")


def test_a_signature_that_comes_later_is_not_lost_without_a_word(tmp_path: Path) -> None:
    database(tmp_path)
    given = ("release", "record", "release.json", "w.duckdb")
    assert "is recorded as" in inside(*given, cwd=tmp_path).err
    assert "is recorded already as" in inside(*given, cwd=tmp_path).err
    (tmp_path / "release.json.sig").write_text("signed")
    outcome = inside(*given, "--signature", "release.json.sig", cwd=tmp_path)
    assert outcome.code == 2 and "is recorded already with another signature" in outcome.line
