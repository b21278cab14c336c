"""The report on a population: each figure with a sentence that says what it means for a person."""

from collections.abc import Iterator

from qidsql.commands.risk.population.population import PopulationFigures, PopulationResult
from qidsql.report.blocks import Fields, Outcome, Report
from qidsql.report.sections import cost, joined_columns
from qidsql.wording.texts import count, percent, plural, share

NOT_COVERED = (
    "what else is known of people, by other columns or other tables; a person with several rows, in either table; "
    "people whom the population lacks or has with other values (misspelt, moved, out of date); what the published rows "
    "say of whoever is found in them (audit --sensitive)"
)


def report(result: PopulationResult) -> Report:
    """The report."""
    yield Outcome(result.verdict, result.reason)
    account, figures = result.account, result.figures
    facts = Fields()
    where = " that meet --where" if account.policy.where else ""
    rows = "" if account.rows is None else f", {plural(account.rows, 'row')}{where}"
    facts.add("Source", f"{account.source}, {account.kind} {account.table}{rows}")
    facts.add("", f"{account.read_by}; {account.snapshot}")
    people = "" if figures is None else f", {_people(figures.people)}"
    facts.add("Population", f"{result.population_source}, {result.population}{people}")
    row = "one person" if result.counts is None else f"as many people as its {result.counts} says"
    rule = f"Each published row stands for a person, a row of the population for {row}."
    facts.add("Rule", f"A NULL matches nothing: nobody can look it up. {rule}")
    for note in account.notes:
        facts.add("Note", note)
    yield facts
    yield from joined_columns(account.table, result.columns, result.columns_given, result.columns_compared)
    if figures is not None and figures.rows and figures.people:
        lines = Fields()
        for title, sentence in (*_doubts(figures), *_figures(figures, account.policy.k, result.presence)):
            lines.add(title, sentence)
        lines.add("Not covered", NOT_COVERED)
        yield lines
    yield from cost(account)


def _doubts(figures: PopulationFigures) -> Iterator[tuple[str, str]]:
    """Why the published rows may be no sample of the population."""
    if figures.rows_absent:
        yield (
            "Not a sample",
            f"the values of {_rows(figures.rows_absent, figures)} do not occur in the population: it lacks these "
            f"people, or has them with other values",
        )
    if figures.rows_exceeding:
        yield (
            "Not a sample",
            f"the values of {_rows(figures.rows_exceeding, figures)} occur in more published rows than people: the "
            f"population lacks people, or a person has several rows",
        )
    if figures.rows_with_null:
        yield (
            "NULL",
            f"{_rows(figures.rows_with_null, figures)} have a NULL, or a text where the population has a number: they "
            f"match nobody, and count as below k before a pass",
        )
    if figures.people_with_null:
        yield "NULL", f"{_people(figures.people_with_null)} of the population have one: no row matches them"
    if figures.uncounted:
        yield "NULL", f"{plural(figures.uncounted, 'row')} of the population have no count, or a negative one: nobody"


def _figures(figures: PopulationFigures, k: int, limits: str | None) -> Iterator[tuple[str, str]]:
    """The risks; they are those of the rows that match."""
    by_classes, by_rows = figures.journalist_by_classes, figures.marketer
    if figures.journalist_max is None or by_classes is None or by_rows is None:
        yield "k-map", "no row matches anybody: there is nothing to measure"
        return
    rows = "every published row"
    if figures.rows_matched < figures.rows:
        rows = f"each of the {plural(figures.rows_matched, 'row')} that match"
    text = f"{rows} could be one of at least {_people(round(1 / figures.journalist_max))} of the population"
    if figures.rows_below_k:
        text += f"; {_rows(figures.rows_below_k, figures)} could be fewer than {k}"
    if figures.rows_of_one:
        text += f", {count(figures.rows_of_one)} of them only one person"
    yield "k-map", text
    yield (
        "Journalist",
        f"whoever looks up one published row names the right person with a chance of at most "
        f"{percent(figures.journalist_max)}, and of {percent(max(by_classes, by_rows))} on average (the greater of "
        f"{percent(by_classes)}, classes / their people, and {percent(by_rows)}, over rows)",
    )
    yield (
        "Marketer",
        f"whoever names a person for each row gets {float(by_rows * figures.rows_matched):,.1f} of "
        f"{plural(figures.rows_matched, 'row')} right on average ({percent(by_rows)})",
    )
    of_sample = not figures.rows_absent and not figures.rows_exceeding  # else no share of the people is published
    if figures.presence_min is not None and figures.presence_max is not None and (of_sample or limits is not None):
        yield (
            "Presence",
            f"of the people with equal values {percent(figures.presence_min)} to {percent(figures.presence_max)} are "
            f"published: the chance with which whoever knows a person's values knows that the person is in the table"
            f"{'' if limits is None else f' (allowed: {limits})'}",
        )
    known = ", and known to whoever has the population" if figures.uniques_of_both else ""
    yield (
        "Alone",
        f"{plural(figures.sample_uniques, 'row')} alone with their values among the published rows, "
        f"{_people(figures.population_uniques)} in the population; {plural(figures.uniques_of_both, 'row')} in both"
        f"{known}",
    )


def _rows(some: int, figures: PopulationFigures) -> str:
    return f"{plural(some, 'row')} ({share(some, figures.rows)})"


def _people(number: int) -> str:
    return plural(number, "person", "people")


def opening(result: PopulationResult) -> str:
    """What was found, in words for people who sign."""
    found, k = result.figures, result.account.policy.k
    if found is None:
        return "The table was not compared with the population."
    if not found.rows_below_k:
        return f"No row could be only 1 to {k - 1} people of {result.population}."
    return (
        f"{plural(found.rows_below_k, 'row')} of {count(found.rows)} could be fewer than {k} people of "
        f"{result.population}: withhold a column, or make its values coarser."
    )
