"""The statements whose text is kept in `golden/`, one file per statement and dialect.

`python -m tests.sql.golden_statements` writes the files anew; the diff shows what changed for the engines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlglot import exp

from qidsql.core.tables import Column, Comparison, Condition, Table, TableName
from qidsql.engines.duckdb.dialect import DUCKDB
from qidsql.engines.postgres.dialect import POSTGRES
from qidsql.engines.spark.dialect import SPARK
from qidsql.measures.disclosure_limits import Distant, FewValues, Frequent
from qidsql.measures.histories import KnownRows
from qidsql.measures.least_squares import Covariate
from qidsql.sql.classes import (
    class_profiles,
    class_profiles_by_finest,
    class_profiles_in_one_scan,
    class_sizes,
    column_counts,
    entity_profile,
    profiles_of_sampled_classes,
)
from qidsql.sql.copies import (
    create_table,
    create_view,
    drop_table,
    granting_columns,
    publishing_view,
    suppressed_by_counts,
    suppressed_by_plan,
    suppression_in_place,
)
from qidsql.sql.dialects import Dialect
from qidsql.sql.distributions import Cases, SharedColumn, regression_sums, value_distribution, weighed_rows
from qidsql.sql.hierarchies import judged_nodes
from qidsql.sql.histories import (
    certain_persons,
    choices,
    compared_values,
    drawn_rows,
    tried_pairs,
    varying_columns,
    whole_histories,
)
from qidsql.sql.judged_classes import ClassRule
from qidsql.sql.matching_rows import Domain, matching_profile, witness_rows
from qidsql.sql.population import household_risks, population_match, survey_weights
from qidsql.sql.regions import Region, bucket_sizes, profiles_in_regions
from qidsql.sql.relation import Relation, fingerprint, relation, rows_to_hold, sample
from qidsql.sql.row_codes import Lanes, PackedRows, coded_copy, coded_rows, column_values, row_patterns
from qidsql.sql.row_pairs import agreeing, agreeing_packed, pair_masks
from qidsql.sql.templates import Statement
from qidsql.sql.values_in_common import (
    ComparedColumn,
    GroupMember,
    column_ranges,
    rows_by_match,
    sampled_in_common,
    values_in_common,
)

FOLDER = Path(__file__).parent / "golden"
PLAIN = (Column("zip", "text"), Column('we"ird', "date"), Column("person", "integer"))
COMPARED = (
    Column("zip", "text", comparison=Comparison.BYTES),
    Column('we"ird', "json", comparison=Comparison.TEXT),
    Column("person", "integer"),
)
ALL = ("zip", 'we"ird')


def golden() -> Iterator[tuple[str, str]]:
    """File name and text of every statement."""
    for dialect in (DUCKDB, POSTGRES, SPARK):
        for name, statement in statements(dialect):
            yield f"{name}.{dialect.name}.sql", statement.sql + "\n"
        if dialect is SPARK:  # it is only read
            continue
        for name, statement in (*_held(dialect), *_copies(dialect)):
            yield f"{name}.{dialect.name}.sql", statement.sql + "\n"
        for name, script in _scripts(dialect):
            yield f"{name}.{dialect.name}.sql", ";\n".join(script) + "\n"


def statements(dialect: Dialect) -> Iterator[tuple[str, Statement[Any]]]:
    plain = _source(dialect, PLAIN)
    yield "class_profile", class_profiles(dialect, plain, [ALL], 5)
    yield "class_profile_batch", class_profiles(dialect, plain, [("zip",), ('we"ird',), ALL], 5)
    yield "class_profile_by_finest", class_profiles_by_finest(dialect, plain, [("zip",), ('we"ird',), ALL], 5)
    yield "class_profile_one_scan", class_profiles_in_one_scan(dialect, plain, [("zip",), ('we"ird',), ALL], 5)
    if dialect.class_hash is not None:
        yield "class_sample", profiles_of_sampled_classes(dialect, plain, [ALL], 5, 64)
        with_zip = [("zip", 'we"ird'), ("zip", "person")]
        yield "class_samples", profiles_of_sampled_classes(dialect, plain, with_zip, 5, 64)
    if dialect.keyed_hash is not None:
        yield "fingerprint", fingerprint(dialect, plain, PLAIN, 17)
        yield "fingerprint_compared", fingerprint(dialect, _source(dialect, COMPARED), COMPARED, 17)
    if dialect.column_hash is not None:
        yield "bucket_sizes", bucket_sizes(dialect, plain, ALL, 64, 4)
        yield "regions", profiles_in_regions(dialect, plain, ALL, [(1, Region(1, 64, 17)), (3, Region(3, 4))], 5)
    yield "class_sizes", class_sizes(dialect, plain, ALL)
    yield "entity_profile", entity_profile(dialect, plain, ALL, 5, "person")
    yield "entity_sizes", class_sizes(dialect, plain, ALL, "person")
    yield "household_risks", household_risks(dialect, plain, ALL, "person")
    if dialect.recursive:
        yield "household_risks_by_weight", household_risks(dialect, plain, ALL, "person", "person")
    persons = dialect, plain, ALL, 5, "person"
    yield "one_known_row", choices(*persons, KnownRows.ONE)
    yield "two_known_rows", choices(*persons, KnownRows.TWO)
    yield "tried_pairs", tried_pairs(*persons, 10, 100)
    yield "drawn_rows", drawn_rows(*persons, persons=9, first=3, candidates=99, most_copies=7)
    person = dialect, plain, ALL, "person"
    yield "varying_columns", varying_columns(*person)
    yield "compared_values", compared_values(*person, "zip")
    yield "certain_by_two", certain_persons(*person, "zip", KnownRows.TWO, 7)
    if dialect.ordered_lists:
        yield "whole_histories", whole_histories(*persons, 7)
        yield "certain_by_all", certain_persons(*person, "zip", KnownRows.ALL, 7)
    yield "row_patterns", Statement(row_patterns(dialect, plain, ALL), "row patterns", lambda rows: rows)
    keyed = coded_rows(dialect, plain, ALL, "person", "a key")
    yield "coded_rows", Statement(keyed, "coded rows", lambda rows: rows)
    yield "coded_copy", Statement(dialect.render(coded_copy(dialect, plain, ALL)), "coded copy", lambda rows: rows)
    packing = Lanes.of(ALL, [2**50, 2**20])
    yield "packed_rows", Statement(packing.query(dialect, plain), "packed rows", lambda rows: rows)
    yield "held_rows", Statement(rows_to_hold(dialect, plain, ALL), "held rows", lambda rows: rows)
    yield "column_values", Statement(column_values(dialect, plain, ALL, "a key"), "values", lambda rows: rows)
    yield "column_counts", column_counts(dialect, plain, ALL)
    domain = Domain(1000, {"zip": 0, 'we"ird': 7}, {'we"ird': 300})
    yield "matching_rows", matching_profile(dialect, plain, ALL, 5, domain)
    where = _source(dialect, PLAIN, "ZIP >= '10' AND people.person IS NOT NULL")
    yield "where", class_profiles(dialect, where, [ALL], 5)
    compared = _source(dialect, COMPARED)
    yield "compared", class_profiles(dialect, compared, [ALL], 5)
    yield "compared_by_finest", class_profiles_by_finest(dialect, compared, [("zip",), ('we"ird',)], 5)
    yield "compared_one_scan", class_profiles_in_one_scan(dialect, compared, [("zip",), ('we"ird',)], 5)
    yield "compared_entity", entity_profile(dialect, _source(dialect, COMPARED, "person > 7"), ALL, 5, "person")
    yield "weighted_classes", survey_weights(dialect, plain, ALL, "person")
    yield "agreeing", agreeing(dialect, plain, ("zip", 'we"ird', "person"), 0b101, 1000, 50)
    yield "agreeing_on_nothing", agreeing(dialect, plain, ("zip",), 0, 1000, 50)
    rows, values = _sample(dialect, row_address=True), _sample(dialect, row_address=False)
    yield "pair_masks", pair_masks(dialect, rows, ALL, rows=9000, pairs=20, seed=7)
    yield "witness_rows", witness_rows(dialect, plain, ALL, 5, 32, 1000)
    yield "sample_rows", class_profiles(dialect, rows, [ALL], 5)
    yield "sample_values", class_profiles(dialect, values, [ALL], 5)
    yield from _impact(dialect)
    yield from _linkage(dialect)
    yield from _judged(dialect)


def _judged(dialect: Dialect) -> Iterator[tuple[str, Statement[Any]]]:
    """The classes at two choices of levels: by own rows and as all that stay decide, and by persons."""
    two, three, half = Fraction(2), Fraction(3), Fraction(1, 2)
    rules = {
        "judged_levels": ClassRule(5, limits=(FewValues("zip", three), Frequent("zip", half), Distant("zip", half))),
        "judged_levels_all_stay": ClassRule(5, limits=(Distant("zip", half),), all_stay=True),
        "judged_levels_of_persons": ClassRule(5, persons=True, limits=(FewValues("zip", two),)),
    }
    for name, rule in rules.items():
        masks, sums = [(7, 1), (4, 0)], [["g_0_1"], ["n"]]
        text = judged_nodes(dialect, "SELECT * FROM coded", masks, rule, sums)
        yield name, Statement(text, "classes at some levels", lambda rows: rows)


def _held(dialect: Dialect) -> Iterator[tuple[str, Statement[Any]]]:
    """What reads rows that the engine holds."""
    held = PackedRows(TableName("held_1", "main", "held"), Lanes.of(ALL, [2**50, 2**20], guarded=True))
    yield "agreeing_packed", agreeing_packed(dialect, held, 0b10, 9000, 1000, 50)


def _copies(dialect: Dialect) -> Iterator[tuple[str, Statement[Any]]]:
    """What makes protected copies."""
    people = Table(TableName("people", "clinic"), "table", PLAIN, row_address=("ctid",))
    plan = suppressed_by_plan(dialect, people, PLAIN[:2], PLAIN, exp.to_table("plan"), "a key")
    yield "suppressed_by_plan", Statement(dialect.render(plan), "rows by a plan", lambda rows: rows)
    some = replace(people, condition=Condition("person > 7"))
    counts = suppressed_by_counts(dialect, some, PLAIN[:2], PLAIN, [0, 1, 2], 3)
    for make in (create_table, create_view):
        made = make(dialect, TableName("safe", "clinic"), counts)
        yield make.__name__, Statement(made, "the same by counts", lambda rows: rows)
    dropped = drop_table(dialect, TableName("safe", "clinic"))
    yield "drop_table", Statement(dropped, "the removal of a copy", lambda rows: rows)
    in_place = suppression_in_place(dialect, people, PLAIN[:2], [0, 1, 2], 3)
    yield "suppression_in_place", Statement(in_place, "the same in place", lambda rows: rows)


def _scripts(dialect: Dialect) -> Iterator[tuple[str, list[str]]]:
    """What is printed for people to run."""
    table, view = Table(TableName("people", "clinic"), "table", PLAIN), TableName("public", "clinic")
    yield "publish_view", publishing_view(dialect, table, ALL, view, "reader")
    some = replace(table, condition=Condition("person > 7 -- of all"))
    yield "publish_view_where", publishing_view(dialect, some, ALL, view)
    if dialect.has_roles:
        yield "grant_columns", granting_columns(dialect, table, ALL, "reader")


def _sample(dialect: Dialect, row_address: bool) -> Relation:
    addresses = {DUCKDB.name: ("rowid",), POSTGRES.name: ("tableoid", "ctid")}
    address = addresses.get(dialect.name, ()) if row_address else ()
    name, condition = TableName("people", "clinic"), Condition("person > 7")
    return sample(dialect, Table(name, "table", PLAIN, row_address=address, condition=condition), PLAIN, 40, 7)


def _impact(dialect: Dialect) -> Iterator[tuple[str, Statement[Any]]]:
    tables = [Table(TableName(name, "clinic"), "table", PLAIN) for name in ("people", "people_protected")]
    zip_code, weird, person = (SharedColumn(column, column, "*") for column in PLAIN)
    weights = ("person", "person")
    yield "weighed_rows", weighed_rows(dialect, tables[1], "person")
    yield "value_distribution", value_distribution(dialect, *tables, weird, weights, 1000, False)
    yield "value_distribution_shown", value_distribution(dialect, *tables, zip_code, (None, None), 1000, True)
    covariates = [Covariate("zip", False, 0), Covariate('we"ird', False, 1)]
    cases = Cases(tables[1], True, 99)
    yield "regression_sums", regression_sums(dialect, *tables, person, [zip_code, weird], covariates, cases)


def _linkage(dialect: Dialect) -> Iterator[tuple[str, Statement[Any]]]:
    person, voter = TableName("people", "clinic"), TableName('vo"ters', "town")
    number, day = dialect.type(dialect.number), exp.DataType.build("DATE")
    texts = [ComparedColumn(person, "zip", None, False, False), ComparedColumn(voter, 'we"ird', None, False, False)]
    numbers = [
        ComparedColumn(person, "person", number, True, True),
        ComparedColumn(voter, 'we"ird', number, True, True),
    ]
    days = [ComparedColumn(person, "born", day, False, True), ComparedColumn(voter, 'we"ird', day, False, True)]
    yield "column_ranges", column_ranges(dialect, [[(0, texts[0], None)], [(1, texts[1], 7)]])
    yield "column_ranges_of_numbers", column_ranges(dialect, [[(0, numbers[0], None)], [(1, numbers[1], 7)]])
    yield "values_in_common", values_in_common(dialect, texts, [(0, 1)])
    digits = [replace(number, column="zip", digits=True) for number in numbers[:1]]
    yield "values_in_common_of_digits", values_in_common(dialect, [*digits, numbers[1]], [(0, 1)])
    yield "values_in_common_of_days", values_in_common(dialect, days, [(1, 0)])
    left, right = texts[0].source(), texts[1].source()
    on = [(one.value(dialect), other.value(dialect)) for one, other in (texts, days)]
    yield "rows_by_match", rows_by_match(dialect, left, right, on, 5)
    yield "population_match", population_match(dialect, left, right, on, 5)
    people = exp.column(exp.to_identifier("people", quoted=True))
    yield "population_match_counts", population_match(dialect, left, right, on[:1], 5, people)
    yield "sampled_in_common", sampled_in_common(dialect, *in_groups(texts))
    yield "sampled_in_common_of_numbers", sampled_in_common(dialect, *in_groups(numbers))


def in_groups(columns: Sequence[ComparedColumn]) -> tuple[list[GroupMember], list[GroupMember]]:
    both = [GroupMember(number, number, column, 64 >> 6 * number) for number, column in enumerate(columns)]
    return [GroupMember(0, 1, columns[0], 64), *both], both


def _source(dialect: Dialect, columns: tuple[Column, ...], where: str | None = None) -> Relation:
    condition = None if where is None else Condition(where)
    return relation(dialect, Table(TableName("people", "clinic"), "table", columns, condition=condition), columns)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.sql"):
        old.unlink()
    for name, text in golden():
        (FOLDER / name).write_text(text, encoding="utf-8")
