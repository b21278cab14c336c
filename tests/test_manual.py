"""README and the pages of the manual say what the tool does: their commands run, their reports are printed."""

import re
import shlex
import shutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest
from typer.core import TyperGroup

from qidsql.cli import help as manual
from qidsql.cli.app import COMMANDS as SUMMARIES
from qidsql.cli.app import imported, with_way
from qidsql.commands.protect import comparison
from qidsql.commands.protect.way import Way
from qidsql.core.options import STATEMENTS
from qidsql.engines.duckdb.costs import COSTS as DUCKDB
from qidsql.engines.postgres.costs import COSTS as POSTGRES
from qidsql.wording.manual import PAGES
from tests import figures
from tests.commandline import inside, refused
from tests.duckdb_hosts import Shell
from tests.test_floors import FLOORS

HOUSE = Path(__file__).resolve().parents[1]
FILES = [HOUSE / "README.md", HOUSE / ".github" / "ARCHITECTURE.md", *sorted(PAGES.glob("*.md"))]
TEXTS = {str(path.relative_to(HOUSE)): path.read_text(encoding="utf-8") for path in FILES}
WHOLE = "\n".join(TEXTS.values())
OF_OTHERS = {"--version", "--record", "--share", "--no-compile"}  # of the program, the benchmarks, the trials, pip


def blocks(language: str) -> Iterator[str]:
    for text in TEXTS.values():
        yield from re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


# The reports that the pages print.
REPORTS = [block.partition("\n\n") for block in blocks("text") if block.startswith("$ qidsql ")]
REPORTS = [(command.removeprefix("$ "), report) for command, _, report in REPORTS]
LINES = [line for block in blocks("sh") for line in block.replace("\\\n", " ").splitlines()]
TYPED = sorted({tuple(shlex.split(line, comments=True)[1:]) for line in LINES if re.match("qidsql [a-z]", line)})

SAMPLE = [each for each in TYPED if {"clinic.duckdb", "register.duckdb"} & {*each}]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("manual"))


def sample(folder: Path) -> Path:
    """The folder, with the demo's database and the files that the pages show."""
    inside("demo", "--keep", "clinic.duckdb", "--quiet", cwd=folder)
    [file] = re.findall(r"`outside.toml`\n\n```toml\n(.*?)```", WHOLE, flags=re.DOTALL)
    (folder / "outside.toml").write_text(file)
    shutil.copy(folder / "clinic.duckdb", folder / "register.duckdb")
    [statements] = [block for block in blocks("sql") if "TABLE voters" in block]
    with duckdb.connect(str(folder / "register.duckdb")) as connection:
        connection.execute(statements.replace("census.csv", str(folder / "census.csv")))
    return folder


def without_work(text: str) -> str:
    """The report without what it took, and without what differs from run to run and from DuckDB to DuckDB.

    Errors on samples differ too, and with them the widths of columns: other versions of DuckDB draw other samples.
    """
    text = re.sub(r"DuckDB [\d.]+(, time zone [\w/+-]+)?|[+-][\d,]+ %|; run [\w-]+", "", text)
    text = re.sub(r"^(\d+ tables, )?\d+ statements?(,| in) .*?\.$", "", text, flags=re.MULTILINE | re.DOTALL)
    return text.strip()


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("command", "report"), REPORTS, ids=[command for command, _ in REPORTS])
def test_the_reports_in_the_manual_are_those_of_its_commands(
    command: str, report: str, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three dots stand for what is left out; of several commands, the last one prints the report."""
    monkeypatch.setattr(comparison, "SECONDS", dict.fromkeys(Way, 600))  # of `protect`: however busy the machine is
    (clinic / "qidsql.toml").unlink(missing_ok=True)  # of another report: it counts for every command
    for each in command.split("; "):
        out = inside(*shlex.split(each)[1:], cwd=clinic).out
    plain = squeezed if "Mean error" in report else str.strip
    printed, place = plain(without_work(out)), 0
    for part in re.split(r"^\.\.\.$", without_work(report), flags=re.MULTILINE):
        place = printed.find(plain(part), place)
        assert place >= 0, f"{part}\nis not in\n{printed}"
    assert "\n...\n" in report or printed == plain(without_work(report))


def test_the_picture_in_readme_shows_the_report() -> None:
    [report] = [report for command, report in REPORTS if command == "qidsql demo"]
    picture = re.findall(r'<text x="436"[^>]*>([^<]*)</text>.*?<text x="780"[^>]*>([^<]*)</text>', SVG)
    assert len(picture) == 4
    for columns, share in picture:
        assert re.search(rf"^\d  {re.escape(columns)} .* {share}$", report, flags=re.MULTILINE)


SVG = (PAGES / "overview.svg").read_text()


def test_the_figures_in_readme_are_those_of_the_pages() -> None:
    page = TEXTS["qidsql/help/figures.md"]
    trials = re.findall(r"^\| `\w+` \| [^|]* \| ([\d,]+) \| (\d+) \|", page, flags=re.MULTILINE)
    shown = re.findall(r"^\| [^|]* \| ([\d,]+) \| (\d+) \|$", TEXTS["README.md"], flags=re.MULTILINE)
    assert shown
    assert {*shown} <= {*trials}
    row = r"^\| [^|]* \| ([\d.]+) \| (\d+) \| [^|]* \| [^|]* \| [\d.]+ \| ([\d.]+) \| [\d-]+ \|$"
    measured = {*re.findall(row, page, flags=re.MULTILINE)}
    fast = re.findall(
        r"^\| [^|]* \| ([\d.]+) \| (\d+) \| [^|]* \| ([\d.]+) \|$", TEXTS["README.md"], flags=re.MULTILINE
    )
    assert len(fast) == 7 and {*fast} <= measured


def test_what_one_statement_can_do_is_said_as_it_is() -> None:
    assert (POSTGRES.union_sets, POSTGRES.union_rows) == (DUCKDB.union_sets, DUCKDB.union_rows)
    assert f"up to {DUCKDB.union_sets} column sets of a small table" in STATEMENTS
    words = f"up to {DUCKDB.union_sets} column sets of a table of at most {DUCKDB.union_rows:,} rows"
    assert words in " ".join(WHOLE.split())


def commands() -> Iterator[tuple[str, ...]]:
    """The commands of the program, and the parts of each that has any; the first is what the command itself does."""
    for name in SUMMARIES:
        yield (name,)
        if isinstance(command := imported(name), TyperGroup):
            _, *parts = command.commands
            yield from ((name, part) for part in parts)
        elif find_spec(f"qidsql.commands.{name}"):
            declared = import_module(f"qidsql.commands.{name}.command").COMMAND
            yield from ((name, f"--{declared.chosen_by}", way) for way in declared.ways)


COMMANDS = list(commands())


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_an_example_and_a_page(command: tuple[str, ...]) -> None:
    text = inside(*command, "--help").out
    assert re.search(r"Examples?:\s", text)
    assert f"Manual: qidsql help {command[0]}\n" in text
    assert f"qidsql {command[0]}" in TEXTS["README.md"]
    assert " ".join(command[1:] if "--by" in command else command[:2]) in WHOLE
    assert f"`{command[0]}`" in manual.page_text(manual.page_of(command[0])) or command[0] in manual.topics()


def test_every_option_in_the_manual_exists() -> None:
    firsts = [(c[0], next(iter(imported(c[0]).commands))) for c in COMMANDS if isinstance(imported(c[0]), TyperGroup)]
    texts = [inside(*command, "--help").out for command in [*COMMANDS, *firsts]]
    texts += [
        inside(*c, "--help-all").out
        for c, text in zip([*COMMANDS, *firsts], texts, strict=True)
        if "--help-all" in text
    ]
    texts.append(inside("--help").out)
    known = {option for text in texts for option in re.findall(r"--[a-z-]+", text)}
    assert set(re.findall(r"(?<!\w)--[a-z][a-z-]+", WHOLE)) - known <= OF_OTHERS


@pytest.mark.parametrize("typed", TYPED, ids=" ".join)
def test_every_command_in_the_manual_can_be_typed(typed: tuple[str, ...]) -> None:
    """Its options and their values are those of the command, which is not run."""
    name, *rest = typed
    command = imported(with_way(name, rest))
    if isinstance(command, TyperGroup):
        command = command.commands[
            rest.pop(0) if rest and rest[0] in command.commands else next(iter(command.commands))
        ]
    command.make_context(name, rest)


@pytest.mark.exhaustive
@pytest.mark.parametrize("k", [None, "3", "7"])
def test_every_command_on_the_sample_runs(k: str | None, tmp_path: Path) -> None:
    """As printed and with another k. In the order of the pages, since some read what others have written."""
    clinic = sample(tmp_path)
    for printed in SAMPLE:
        typed = [*printed]
        if k and "--k" in typed:
            typed[typed.index("--k") + 1] = k
        if "--update" not in typed:
            (clinic / "qidsql.toml").unlink(missing_ok=True)  # which the commands would follow
        outcome = inside(*typed, cwd=clinic)
        assert outcome.code in (0, 1), (typed, outcome)
        assert outcome.out or {"--output", "--keep"} & {*typed}


def test_the_python_in_the_manual_runs(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "\n".join(blocks("python"))
    monkeypatch.chdir(clinic)
    names: dict[str, object] = {}
    exec(code, names)
    for left, right in re.findall(r"^(result\..*?)  # (.*)$", code, flags=re.MULTILINE):
        assert right.startswith("the ") or eval(left, names) == eval(right, names)
    [sentence] = re.findall(r'\("(Whoever knows .*?)"\)', " ".join(TEXTS["qidsql/help/reports.md"].split()))
    assert sentence in " ".join(re.sub("<.*?>", "", str(eval("result.to_html()", names))).split())


def test_the_index_lists_every_page() -> None:
    assert [*manual.topics()] == [*dict.fromkeys(manual.topics())]
    assert {*manual.topics(), manual.INDEX} == {path.stem for path in PAGES.glob("*.md")}
    assert max(map(len, manual.topics().values())) <= 60
    listed = inside("help").out
    for topic, summary in manual.topics().items():
        assert re.search(rf"^  {topic} +{re.escape(summary)}$", listed, flags=re.MULTILINE)


def test_pages_stay_as_short_as_people_read() -> None:
    """What is new replaces something, or goes to the architecture: 26,000 words were read by nobody."""
    words = {name: len(TEXTS[f"qidsql/help/{name}.md"].split()) for name in manual.topics() if name != "figures"}
    assert {name: count for name, count in words.items() if count > 1_500} == {}
    assert sum(words.values()) <= 16_500


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`]*`", "", TEXTS[name])):
        path, _, anchor = target.partition("#")
        if not path.startswith("https://"):
            file = (HOUSE / name).parent / path if path else HOUSE / name
            assert file.exists(), target
            assert not anchor or anchor in anchors(file.read_text()), target


def test_help_shows_a_page_as_it_is_written_with_commands_for_links() -> None:
    page = inside("help", "audit").out
    assert page.startswith("# Audit a table\n")
    assert "(limits.md)" not in page
    assert "`qidsql help limits`" in page
    assert inside("help", "Audit").out == page


def test_help_shows_the_part_of_a_page_that_is_about_a_command() -> None:
    page, part = inside("help", "policy").out, inside("help", "history").out
    heading, *_, last = part.splitlines()
    assert heading == "## History: `history`, `diff`" and last == "The whole page: `qidsql help policy`"
    assert part.removesuffix(last + "\n") in page and "\n## " not in part
    assert inside("help", "diff").out == part
    deeper = inside("help", "shell").out
    assert "\n### " in deeper and "\n## " not in deeper


def test_a_page_that_does_not_exist_is_refused_with_a_similar_one() -> None:
    assert refused("help", "polcy") == (
        "no page or term polcy (did you mean policy?) in the manual; qidsql help lists the pages"
    )
    assert "qidsql help lists the pages" in refused("help", "xyzzy")


def test_the_picture_of_the_house_is_complete() -> None:
    [picture] = [block for block in blocks("text") if block.startswith("__main__ ")]
    floors = [line.split("  ")[0].split(", ") for line in picture.splitlines() if not line.startswith(" ")]
    assert floors == FLOORS[::-1]


@pytest.mark.exhaustive
def test_the_shell_prints_the_tables_of_the_page(shell: Shell, clinic: Path) -> None:
    [block] = [block for block in blocks("text") if block.startswith("D SELECT")]
    for each in block.split("\nD "):
        statement, mark, table = each.removeprefix("D ").partition(";\n")
        printed = shell.feed(f"{shell.load};\n.mode duckbox\n{statement};", str(clinic / "clinic.duckdb"))
        assert mark and table.strip() in printed


def test_the_page_of_figures_is_what_the_command_writes() -> None:
    assert figures.PAGE.read_text() == figures.page(), "python -m tests.figures"
