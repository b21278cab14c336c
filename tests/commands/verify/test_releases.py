"""A statement about a release that was changed anywhere is refused; what nothing can derive again is named."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qidsql import connect, verify
from qidsql.commands.release.command import ReleaseResult
from qidsql.commands.verify.command import Holds
from qidsql.commands.verify.releases import still_valid
from qidsql.declarations.results import loaded
from qidsql.engines.base import Engine
from qidsql.errors import QidsqlError
from tests.commandline import inside
from tests.commands.release.test_release import PEOPLE, holds, policy, table
from tests.exhaustive import always

RECORDED = {  # protected only by the signature
    *("declared", "of", "policy_hash", "policy", "qidsql", "name", "title", "seconds", "started", "source", "engine"),
    *("snapshot", "kind", "statements", "rounds", "scans", "bytes_read", "bytes_exact", "notes", "unfinished"),
    *("sets_profiled", "reader", "time_zone", "missing_entity", "source_read", "evidence"),
}
Path_ = tuple[str | int, ...]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released")
    policy(folder, release='recipient = "a university"\nuntil = "2999-12-31"\nchecklists = ["safe-harbor", "ipc-low"]')
    table(folder, PEOPLE[:47])
    assert inside("release", "out.parquet", "--of", "patients", "-o", "release.json", cwd=folder).code in (1, 3)
    return folder


def leaves(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from leaves(each, (*path, key))
    if not isinstance(value, dict | list):
        yield path


def changed(document: Any, path: Path_) -> Any:
    copy = json.loads(json.dumps(document))
    place = copy
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    new = not old if isinstance(old, bool) else old + 1 if isinstance(old, int | float) else f"{old or ''}x"
    place[path[-1]] = new
    return copy


def refused(folder: Path, engine: Engine, document: Any) -> bool:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    (folder / "changed.json").write_text(text)
    try:
        return any(each.holds is Holds.NO for each in verify(engine, str(folder / "changed.json")).checks)
    except QidsqlError:
        return True


@pytest.mark.parametrize("changes", always(longer=[30]))
def test_every_change_is_refused(changes: int, released: Path) -> None:
    document = json.loads((released / "release.json").read_text())
    derived = [path for path in leaves(document) if not RECORDED & set(path) or "lines" in path]
    sample = random.Random(39).sample(derived, min(changes, len(derived)))
    with connect(str(released / "out.parquet")) as engine:
        assert not refused(released, engine, document)
        assert [path for path in sample if not refused(released, engine, changed(document, path))] == []


def test_one_changed_byte_of_the_file_is_refused(released: Path, tmp_path: Path) -> None:
    """In the place of the name of the writer, which no reader looks at."""
    written = (released / "out.parquet").read_bytes()
    place = written.rindex(b"DuckDB")
    (tmp_path / "out.parquet").write_bytes(written[:place] + b"d" + written[place + 1 :])
    outcome = inside("verify", str(released / "release.json"), "out.parquet", cwd=tmp_path)
    assert outcome.code == 1 and "does not hold: it is about these bytes" in " ".join(outcome.out.split())


@pytest.mark.exhaustive
def test_another_name_of_the_file_and_what_is_only_recorded(released: Path, tmp_path: Path) -> None:
    (tmp_path / "moved.parquet").write_bytes((released / "out.parquet").read_bytes())
    outcome = inside("verify", str(released / "release.json"), "moved.parquet", cwd=tmp_path)
    assert outcome.code == 1 and holds(outcome)
    assert "protected only by the signature" in outcome.out and "recipient a university" in outcome.out
    assert "The statement itself: violation" in " ".join(outcome.out.split())
    inside("verify", str(released / "release.json"), "moved.parquet", "-o", "page.html", cwd=tmp_path)
    assert "Its own verdict on them is: violation." in (tmp_path / "page.html").read_text()


@pytest.mark.exhaustive
def test_a_line_that_was_taken_away_is_refused(released: Path) -> None:
    document = json.loads((released / "release.json").read_text())
    for place in range(3):
        copy = json.loads(json.dumps(document))
        del copy["predicate"]["lines"][place]
        with connect(str(released / "out.parquet")) as engine:
            assert refused(released, engine, copy)


@pytest.mark.exhaustive
def test_a_line_that_nothing_here_decides_may_not_be_claimed(released: Path) -> None:
    """That the policy names nothing to join can be seen from the statement itself."""
    document = json.loads((released / "release.json").read_text())
    given = ("--checklist", "wp216", "-o", "wp216.json")
    inside("release", "out.parquet", "--of", "patients", *given, cwd=released)
    document = json.loads((released / "wp216.json").read_text())
    [line] = [each for each in document["predicate"]["lines"] if each["item"] == "linkability"]
    assert line["state"] == "not examined"
    line["state"] = "met"
    with connect(str(released / "out.parquet")) as engine:
        assert refused(released, engine, document)


@pytest.mark.exhaustive
def test_what_the_files_leave_open_may_not_be_claimed(tmp_path: Path) -> None:
    """The earlier release is at hand: whoever says that both together were examined can be refuted."""
    policy(tmp_path)
    table(tmp_path, PEOPLE)
    (tmp_path / "first.parquet").write_bytes((tmp_path / "out.parquet").read_bytes())
    inside("release", "first.parquet", "--of", "patients", "-o", "first.json", cwd=tmp_path)
    inside("release", "record", "first.json", "first.parquet", cwd=tmp_path)
    table(tmp_path, [*PEOPLE, *PEOPLE])
    inside("release", "out.parquet", "--of", "patients", "-o", "second.json", cwd=tmp_path)
    document = json.loads((tmp_path / "second.json").read_text())
    [line] = [each for each in document["predicate"]["lines"] if each["item"] == "releases together"]
    assert line["state"] == "not examined" and "other values since" in line["measured"]
    line["state"] = "met"
    verdict = {"verdict": "pass", "reason": "every computed line is met, 6 of 6"}
    document = {**document, **verdict, "predicate": {**document["predicate"], **verdict}}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    (tmp_path / "changed.json").write_text(text)
    assert holds(inside("verify", "second.json", "out.parquet", cwd=tmp_path))
    assert not holds(inside("verify", "changed.json", "out.parquet", cwd=tmp_path))


@pytest.mark.exhaustive
def test_an_exception_that_expired_is_refused(released: Path, tmp_path: Path) -> None:
    policy(tmp_path, release='exceptions = [{line = "ema-0070 threshold", reason = "board", expires = "2999-01-01"}]')
    table(tmp_path, PEOPLE[:40])
    inside("release", "out.parquet", "--of", "patients", "--checklist", "ema-0070", "-o", "r.json", cwd=tmp_path)
    assert holds(inside("verify", "r.json", "out.parquet", cwd=tmp_path))
    found = loaded(ReleaseResult, json.loads((tmp_path / "r.json").read_text()))
    assert [claim.text for claim in still_valid(found, "2999-01-02") if claim.holds is not Holds.YES] == [
        "the exception of ema-0070 threshold holds today"
    ]


@pytest.mark.exhaustive
def test_other_bytes_of_the_same_statement_are_refused(released: Path) -> None:
    (released / "indented.json").write_text(json.dumps(json.loads((released / "release.json").read_text()), indent=1))
    outcome = inside("verify", "indented.json", "out.parquet", cwd=released)
    assert outcome.code == 1 and "canonical" in outcome.out


@pytest.mark.parametrize("name", ("date", "until"))
def test_a_day_that_is_none_is_refused_in_one_line(name: str, released: Path) -> None:
    document = json.loads((released / "release.json").read_text())
    for declared in (document["predicate"]["declared"], document["predicate"]["audit"]["policy"]["origin"]["release"]):
        declared[name] = "soon"
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    (released / "changed.json").write_text(text)
    outcome = inside("verify", "changed.json", "out.parquet", cwd=released)
    assert outcome.code == 2 and outcome.err == f"qidsql: {name} in [release] must be a day such as 2027-03-31\n"


def test_all_that_nothing_derives_again_is_named(tmp_path: Path) -> None:
    policy(tmp_path, release='recipient = "a university"\npurpose = "a study"')
    table(tmp_path, PEOPLE)
    (tmp_path / "first.parquet").write_bytes((tmp_path / "out.parquet").read_bytes())
    inside("release", "first.parquet", "--of", "patients", "-o", "first.json", cwd=tmp_path)
    inside("release", "record", "first.json", "first.parquet", cwd=tmp_path)
    table(tmp_path, [*PEOPLE, *PEOPLE])
    keyed = ("--keyed", "keyed.parquet", "--key", "id")
    inside("release", "out.parquet", "--of", "patients", *keyed, "-o", "second.json", cwd=tmp_path)
    said = " ".join(inside("verify", "second.json", "out.parquet", cwd=tmp_path).out.split())
    said = said[said.index("protected only by the signature") : said.index("Result")]
    for each in (
        *("recipient a university", "purpose a study", "the name out.parquet", "that it was made from main.patients"),
        *("that these left earlier, and where they are: first.parquet", "the copies with id", "the roles", "the notes"),
    ):
        assert each in said, each


def test_a_condition_that_leaves_rows_out_is_refused(released: Path) -> None:
    """The figures are of all rows, and the page would say otherwise."""
    document = json.loads((released / "release.json").read_text())
    document["predicate"]["audit"]["policy"]["where"] = "age < 20"
    with connect(str(released / "out.parquet")) as engine:
        assert refused(released, engine, document)


@pytest.mark.parametrize("damage", [b"", b"PAR1", None])
def test_a_file_that_cannot_be_read_is_not_these_bytes(damage: bytes | None, released: Path, tmp_path: Path) -> None:
    """Cut short, or another length at its end: refused as any other bytes, in the command and in Python."""
    written = (released / "out.parquet").read_bytes()
    (tmp_path / "out.parquet").write_bytes(written[:-9] if damage is None else damage)
    statement = str(released / "release.json")
    outcome = inside("verify", statement, "out.parquet", cwd=tmp_path)
    assert outcome.code == 1 and "1 of 1 claims does not hold: it is about these bytes" in " ".join(outcome.out.split())
    assert verify(str(tmp_path / "out.parquet"), statement).verdict == "violation"
    assert inside("verify", statement, "gone.parquet", cwd=tmp_path).code == 2


def test_a_damaged_file_of_another_result_is_an_error(tmp_path: Path) -> None:
    policy(tmp_path)
    name = table(tmp_path)
    inside("audit", name, "-o", "audit.json", cwd=tmp_path)
    (tmp_path / name).write_bytes(b"PAR1")
    assert inside("verify", "audit.json", name, cwd=tmp_path).code == 2


def test_words_of_another_version_are_no_secret(released: Path) -> None:
    """A statement that an older version wrote may say the same in other words: then the claim says so."""
    document = json.loads((released / "release.json").read_text())
    document["qidsql"] = document["predicate"]["audit"]["qidsql"] = "0.0.9"
    document["predicate"]["lines"][0]["measured"] += " then"
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    (released / "changed.json").write_text(text)
    found = verify(str(released / "out.parquet"), str(released / "changed.json"))
    [lines] = [each for each in found.checks if each.text.startswith("each of ")]
    assert lines.holds is Holds.NO and "qidsql 0.0.9 may have other words" in lines.how
