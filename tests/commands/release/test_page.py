"""The page of a release, as whoever signs reads it."""

import re
from pathlib import Path

import duckdb

from tests.commandline import inside
from tests.commands.release.test_release import LIKELY, PEOPLE, policy, table

REGISTER = 'linked = [{table = "nowhere.parquet", on = ["age=age"]}]'


def page(folder: Path, *more: str) -> str:
    given = ("release", "check", "out.parquet", "--of", "patients", *more, "-o", "release.html")
    inside(*given, cwd=folder)
    return (folder / "release.html").read_text()


def test_small_words_of_the_page(tmp_path: Path) -> None:
    """No marks of another language, rows are called rows, and a checklist says what was not examined."""
    policy(tmp_path, more=f'k = 5\nentity = "row"\n{LIKELY}', release=REGISTER)
    table(tmp_path, [*PEOPLE, *[(60, "n", "a")] * 5])
    text = page(tmp_path, "--checklist", "safe-harbor", "--checklist", "wp216")
    explained = text[text.index('id="glossary"') :]
    assert "household" in explained.lower() and "`" not in text
    assert "diagnosis is certain for 5 rows (" in text
    assert "2 of 4 lines computed (met: singling out), 1 not examined, 1 for a person to say" in text
    style = text[: text.index("</style>")]
    assert re.search(r"details\.evidence summary h2 \{[^}]*border: 0;", style)  # its line is that of the details


def test_the_highest_risk_has_the_limit_of_k(tmp_path: Path) -> None:
    """Without a checklist, too: bars are there to be compared."""
    policy(tmp_path)
    table(tmp_path)
    chart = page(tmp_path).partition('id="glossary"')[0]
    assert "highest 0.0833, allowed 0.2000 (1/5)" in " ".join(re.sub("<[^>]+>", " ", chart).split()).replace(
        " allowed", ", allowed"
    )


def test_what_is_not_decided_is_not_released(tmp_path: Path) -> None:
    """The page says what the terminal says, and who signs cannot tick that it may leave."""
    policy(tmp_path)
    table(tmp_path)
    text = page(tmp_path)
    assert "This is not decided: 3 requirements were not examined." in text and "<strong>Not decided</strong>" in text
    assert "Inconclusive" not in text and "Release as audited" not in text
    assert "Release after the changes noted below" in text
    inside("release", "check", "out.parquet", "--of", "patients", "-o", "release.md", cwd=tmp_path)
    assert "not decided · out.parquet" in (tmp_path / "release.md").read_text()
    inside("run", cwd=tmp_path)
    text = page(tmp_path)
    assert "Everything that can be computed is met." in text and "Release as audited" in text


def test_a_dossier_with_a_release_has_its_decision_alone(tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path)
    inside("release", "check", "out.parquet", "--of", "patients", "-o", "release.json", cwd=tmp_path)
    inside("audit", "out.parquet", "-o", "audit.json", cwd=tmp_path)
    for names, decisions, offered in ((("release.json", "audit.json"), 1, 0), (("audit.json", "audit.json"), 1, 1)):
        inside("report", *names, "-o", "dossier.html", cwd=tmp_path)
        text = (tmp_path / "dossier.html").read_text()
        assert (text.count('<h2 id="sign">'), text.count("Release as audited")) == (decisions, offered), names


def test_what_a_person_must_look_at_is_not_hidden_by_what_was_found(tmp_path: Path) -> None:
    policy(tmp_path, {"age": "quasi-identifier", "c": "sensitive", "d": "sensitive"})
    table(tmp_path, [*[(20, "http://x.org", "x")] * 47, (20, "http://x.org", "10.0.0.1")], "age, c, d")
    text = page(tmp_path, "--checklist", "safe-harbor")
    [line] = re.findall("no web or IP addresses[^<]*", text)
    assert "c: 48 values" in line and "a person must look: d: 1 value" in line


def test_what_many_lines_share_stands_once(tmp_path: Path) -> None:
    """Of lists with the same threshold, too: each keeps its name, its text where it is another, and its page."""
    policy(tmp_path, more=f'k = 5\nentity = "row"\n{LIKELY}')
    table(tmp_path, PEOPLE[:44])
    lists = [part for each in ("safe-harbor", "ema-0070", "ipc-low", "wp216") for part in ("--checklist", each)]
    text = " ".join(re.sub("<[^>]+>", " ", page(tmp_path, *lists)).split())
    assert text.count("0.0909: the smallest class has 11") == 1
    assert "ipc-low threshold the risk of the release" in text and "each of these 2 (0.09: k = 12) →" in text
    assert text.count("there is no history that could name an earlier release") == 1 and "each of these 4 →" in text
    assert "[45 CFR 164.514(b)(2)(ii)]" in text and "[qidsql help risk]" in text


def test_a_page_without_any_risk(tmp_path: Path) -> None:
    policy(tmp_path)
    table(tmp_path)
    with duckdb.connect() as connection:
        path = tmp_path / "out.parquet"
        connection.execute(f"CREATE TABLE t AS FROM '{path}' LIMIT 0; COPY t TO '{path}'")
    assert "highest" in page(tmp_path, "--checklist", "ema-0070")
