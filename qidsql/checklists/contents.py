"""What a full scan finds in the names and the cells of columns that identifies people. Only counts leave the engine.

A hit proves that a thing is there. What could be chance, or another thing, is `possible`: a person must look.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from qidsql.column_roles.names import find, words
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.sql.contents import column_contents
from qidsql.wording.texts import count, plural, share

VINTAGE = "the 17 prefixes of the guidance of 2012"  # of zip codes; the rule asks for the current census
MOSTLY = 85  # percent of the values that look like one thing, in a column of it
FEW_VALUES = 20  # different values, such as codes
SURE = 20  # values of the right form from which check digits decide


@dataclass(frozen=True, slots=True)
class ScannedColumn:
    """A column, what its name says, and the counts of its values."""

    name: str
    meaning: str
    term: frozenset[str]  # the words of the name that say it
    counts: Mapping[str, int]

    @classmethod
    def of_name(cls, name: str, counts: Mapping[str, int]) -> "ScannedColumn":
        split = words(name)
        hit = find(split)
        term = split[hit.first : hit.last] if hit else ()
        return cls(name, hit.concept.meaning if hit else "", frozenset(term), counts)

    def of(self, what: str) -> int:
        return self.counts.get(what, 0)

    def mostly(self, what: str) -> bool:
        """Whether most values look like it."""
        return bool(self.of(what)) and 100 * self.of(what) >= MOSTLY * self.of("filled")

    def says(self, what: str) -> str:
        return f"{self.name}: {plural(self.of(what), 'value')} ({share(self.of(what), self.of('filled'))})"


@dataclass(slots=True)
class Sought:
    """The columns in which a thing was found, and those where a person must look, each in words."""

    found: list[str] = field(default_factory=list)
    possible: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ScannedTable:
    """All columns, scanned."""

    rows: int
    columns: tuple[ScannedColumn, ...]

    def nothing_of(self, things: Sequence[str]) -> str:
        """How these things were looked for in vain."""
        cells = f"{plural(self.rows, 'row')} of {plural(len(self.columns), 'column')}"
        if "free text" in things:
            return f"no value of six words or more in {cells}, and no column named so"
        if "unique values" in things:
            return f"no column of different values only, and no hash, in {cells}; no pattern shows all"
        if NO_PATTERN.intersection(things):
            return f"none by name or pattern in {cells}; no pattern shows all"
        return f"nothing looks so in {cells}"

    def unread(self, things: Sequence[str]) -> list[str]:
        """The columns with something that no pattern tells from these things."""
        signs = [sign for each in things for sign in SIGNS.get(each, ())]
        return [each.name for each in self.columns if not each.term & ZIP and any(map(each.of, signs))]

    def sought(self, thing: str) -> Sought:
        """Where a thing is."""
        sought = Sought()
        for column in self.columns:
            for look in THINGS[thing]:
                for sure, text in look(column):
                    (sought.found if sure else sought.possible).append(text)
        return sought


def scanned(engine: Engine, table: Table, year: int) -> ScannedTable:
    """The contents of all columns, by a full scan of each, in this year. Raises Stopped, StatementError."""
    statements = [column_contents(engine.dialect, table, each, year - 89) for each in table.columns]
    found = engine.run_many(statements)
    columns = [ScannedColumn.of_name(each.name, counts) for each, counts in zip(table.columns, found, strict=True)]
    return ScannedTable(max((each.of("row_count") for each in columns), default=0), tuple(columns))


Hits = Iterator[tuple[bool, str]]  # whether it is sure, and where


def _named(*meanings: str, sure: bool = True) -> Callable[[ScannedColumn], Hits]:
    """By the name of the column; a few values, such as yes and no, may say something else."""

    def named(column: ScannedColumn) -> Hits:
        if column.meaning in meanings and column.of("filled"):
            yield sure and column.of("different") > FEW_VALUES, f"{column.name} (by its name)"

    return named


def _any(*counts: str) -> Callable[[ScannedColumn], Hits]:
    """One value is enough."""
    return lambda column: ((True, column.says(each)) for each in counts if column.of(each))


def _share(what: str) -> Callable[[ScannedColumn], Hits]:
    """Most values; fewer could be another thing."""

    def shared(column: ScannedColumn) -> Hits:
        if column.of(what):
            yield column.mostly(what), column.says(what)

    return shared


def _maybe(what: str, why: str) -> Callable[[ScannedColumn], Hits]:
    def maybe(column: ScannedColumn) -> Hits:
        if column.of(what):
            yield False, f"{column.says(what)} {why}"

    return maybe


def _cards(column: ScannedColumn) -> Hits:
    """By the check digit, which one in ten random numbers passes: more than that is no chance, by three deviations."""
    like, right = column.of("cards_like"), column.of("cards")
    if like >= SURE and 10 * right >= 9 * like:
        yield True, column.says("cards")
    elif right and (like < SURE or (10 * right > like and (10 * right - like) ** 2 > 81 * like)):
        yield False, f"{column.name}: {count(right)} of {count(like)} long numbers have the check digit of a card"


def _zip_codes(column: ScannedColumn) -> Hits:
    if column.term & ZIP:
        for what, why in (("long_zips", "of more than three digits"), ("sparse_zips", f"where few live, by {VINTAGE}")):
            if column.of(what):
                yield True, f"{column.says(what)} {why}"
    else:
        yield from _maybe("postcodes", "like postal codes")(column)


def _places(column: ScannedColumn) -> Hits:
    if column.meaning in ("a place", "a postal address") and not column.term & (ZIP | LARGE):
        yield True, f"{column.name} (by its name)"


def _dates(column: ScannedColumn) -> Hits:
    yield from _any("days")(column)
    yield from _share("months")(column)
    packed = column.of("packed_days")
    if packed and 100 * packed > column.of("filled"):
        yield column.mostly("packed_days"), f"{column.says('packed_days')} like 20270331 or 202703"
    if set(words(column.name)) & DATED and column.of("long_numbers"):
        yield False, f"{column.says('long_numbers')} that may count days or seconds"
    if "per" not in words(column.name) and set(words(column.name)) & PARTS_OF_DATES and column.of("different") > 1:
        yield False, f"{column.name} (by its name)"


def _ages(column: ScannedColumn) -> Hits:
    if column.meaning == "an age":
        yield from ((True, f"{column.says(each)} over 89") for each in ("over_89",) if column.of(each))
        yield from _maybe("exactly_90", "of 90, if that is not everybody from 90 on")(column)
        yield from _maybe("beyond_90", "that reach beyond 90, if not everybody from 90 on")(column)


def _birth_years(column: ScannedColumn) -> Hits:
    if column.meaning == "a date or year of birth" and column.of("born_before"):
        yield True, f"{column.says('born_before')} of people who turn 90 or are older"


def _unique(column: ScannedColumn) -> Hits:
    if column.of("filled") >= SURE and column.of("different") == column.of("filled"):
        yield False, f"{column.name}: each of {count(column.of('filled'))} values is another"


def _bytes(column: ScannedColumn) -> Hits:
    if (
        column.of("filled")
        and "pictures" in column.counts
        and "texts" not in column.counts
        and not column.of("pictures")
    ):
        yield False, f"{column.name}: {plural(column.of('filled'), 'value')} of bytes, none a picture by its beginning"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ZIP = _words("zip zipcode postal postcode post plz postleitzahl cp")
LARGE = _words("country nation province region bundesland land pays región país canton kanton comunidad")
DATED = _words("date dates dob dt datum fecha birthday bdate birth time timestamp")
PARTS_OF_DATES = _words("month day weekday week monat tag wochentag woche mois jour semaine mes dia semana")

NO_PATTERN = frozenset(  # things of which no pattern shows all: that there are none, only a person can say
    ("names", "places", "regions", "origins", "personal numbers", "vehicles and devices", "images", "unique values")
)
SIGNS: Mapping[str, Sequence[str]] = {  # of things that have patterns, but no complete ones
    "dates": ("five_digits", "named_months"),
    "telephone numbers": ("seven_digits",),
    "account numbers": ("seven_digits",),
    "e-mail addresses": ("at_signs",),
    "web addresses": ("domains",),
    "free text": ("phrases",),
}
THINGS: Mapping[str, Sequence[Callable[[ScannedColumn], Hits]]] = {
    "names": (_named("a person's name"),),
    "places": (_places,),
    "regions": (
        _named("a place", "a postal address", "a state of a country"),
        _maybe("postcodes", "like postal codes"),
    ),
    "origins": (_named("origin", "race or ethnicity"),),
    "zip codes": (_zip_codes,),
    "dates": (_dates,),
    "ages": (_ages,),
    "birth years": (_birth_years,),
    "telephone numbers": (
        _named("a telephone number"),
        _share("telephones"),
        _maybe("telephones_within", "within a text"),
    ),
    "e-mail addresses": (_named("an e-mail address"), _any("emails")),
    "personal numbers": (
        _named("a number given to one person", "a credential"),
        _share("personal_numbers"),
    ),
    "account numbers": (
        _named("a number of an account or card"),
        _any("ibans"),
        _cards,
        _maybe("accounts_within", "within a text"),
    ),
    "vehicles and devices": (_named("a vehicle or device"), _share("vins"), _share("devices")),
    "web addresses": (_named("a trace on the net"), _any("urls")),
    "IP addresses": (_share("ips"), _maybe("ips_within", "within a text")),
    "images": (_named("a picture or a feature of the body"), _any("pictures"), _bytes),
    "hashes": (_share("hashes"),),
    "unique values": (_unique,),
    "free text": (_named("free text", sure=False), _maybe("texts", "of six words or more")),
}
