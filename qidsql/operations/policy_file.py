"""Reads the policy file, qidsql.toml. Every error is reported with its file, line and key."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from qidsql.core.files import KeyPath, TomlFile, read_toml
from qidsql.core.options import size_in_bytes
from qidsql.core.policy import EACH_ROW, OF_COPIES, Policy, Release
from qidsql.core.requirements import LIMITS, is_file
from qidsql.core.tables import PolicyRole, Table, fits
from qidsql.declarations.results import read_keys
from qidsql.engines.registry import STORE_SCHEMES, STORES
from qidsql.errors import TomlFileError, UnknownName, UsageError, names_a_secret, near_misses, redacted
from qidsql.measures.disclosure_limits import limits_among
from qidsql.operations.policy_entries import PRESETS, Exemption, SourceEntry
from qidsql.operations.policy_schema import POLICY_FORMAT, SETTINGS, problems
from qidsql.operations.schema_check import with_dates_as_text
from qidsql.wording.texts import POLICY_FILE, written_as

HISTORY_NAME = "qidsql-history.duckdb"
PATTERN = r"[*?\[]"
PASSWORD = r"://[^/@:]*:[^@]+@|://[^/@]*@[^/@]*@|\bpassword\s*=|\bpasswd\s*=|motherduck_token|[?&](token|pwd|secret)="


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table to audit, or a pattern for several. `options` are those of `Policy` except the roles, and `keep`.

    `audit`: False if the table is known but not audited. `undecided` are the columns whose proposed role is still
    marked CHECK, the entity too; `decided` is False if the table itself is.
    """

    source: str
    table: str | None  # None: the only table of the source
    line: int
    owner: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    default_roles: Mapping[str, str] = field(default_factory=dict)  # of columns that the table may not have
    weights: Mapping[str, int] = field(default_factory=dict)
    default_weights: Mapping[str, int] = field(default_factory=dict)  # the same
    exemptions: tuple[Exemption, ...] = ()
    audit: bool = True
    assistants: bool = True  # an assistant may ask about it
    on_new: str | None = None
    undecided: frozenset[str] = frozenset()
    decided: bool = True

    @property
    def label(self) -> str:
        """The name to show if its table is not found: as written in the file, without secrets, else the source."""
        return redacted(self.table or self.source)

    @property
    def entity(self) -> str | None:
        """The column of the persons, if the entry names one."""
        named = self.options.get("entity")
        return None if named == EACH_ROW else named

    @property
    def is_pattern(self) -> bool:
        return self.table is not None and any(sign in self.table for sign in "*?[")

    def matches(self, table: str) -> bool:
        """Whether a table of the catalog, schema.name, matches the pattern."""
        return fits(self.table or "*", table)

    def default_roles_of(self, columns: Iterable[str]) -> dict[str, str]:
        """The roles in [defaults] by names of columns: a name goes before patterns, the first that fits counts.

        A pattern is none for a column of just this name.
        """
        columns = list(columns)
        patterns = {n: role for n, role in self.default_roles.items() if re.search(PATTERN, n) and n not in columns}
        plain = {name: role for name, role in self.default_roles.items() if name not in patterns}
        spoken = {name.lower() for name in (*plain, *self.roles, self.entity or "")}
        for column in columns if patterns else ():
            role = next((role for name, role in patterns.items() if fnmatchcase(column.lower(), name.lower())), None)
            if role is not None and column.lower() not in spoken:
                plain[column] = role
        return plain

    def policy(self, columns: Sequence[str] = ()) -> Policy:
        """The policy of a table with these columns. Raises UsageError."""
        there = {column.lower() for column in columns}
        given = {**self.default_roles_of(columns), **self.roles}
        roles = {name: role for name, role in given.items() if name.lower() in there}
        if not self.is_pattern:  # an entry for one table must name its columns correctly
            roles |= self.roles

        def of(role: str) -> list[str]:
            return [name for name, given in roles.items() if given == role and name != self.entity]

        with written_as(POLICY_FILE):
            return Policy.read(
                **{name: value for name, value in self.options.items() if name not in OF_COPIES},
                identifiers=of("direct identifier"),
                sensitive=of("sensitive"),
                exclude=of("other"),
                quasi_identifiers=of("quasi-identifier"),
            )

    def fitted(self, table: Table, released: bool = False) -> tuple["TableEntry", tuple[str, ...]]:
        """The entry without columns that the table no longer has, and these: less data is no worse. A pattern's may be
        those of other tables. What was `released` has no limits where it has none of the secrets.

        Raises UnknownName for one that may be misspelt, as a similar name has no role, and for a secret of the source
        that a limit is about; UsageError for a name of several columns.
        """
        if self.is_pattern:
            return self, ()
        there = {column.name.lower() for column in table.columns}
        named = list(dict.fromkeys([*self.roles, *self.weights]))
        table.resolve([name for name in named if name.lower() in there])
        gone = tuple(name for name in named if name.lower() not in there)
        spoken = {name.lower() for name in (*named, self.entity or "")}
        free = [column.name for column in table.columns if column.name.lower() not in spoken]
        limited = limits_among(self.policy().criteria) if gone else ()
        secrets = [n for n in gone if self.roles.get(n) == PolicyRole.SENSITIVE] if limited else []
        needed = [n for n in gone if near_misses(n, free) or (n in secrets and not released)]
        if needed:
            raise UnknownName("column", needed, str(table.name), [column.name for column in table.columns])
        roles = {name: role for name, role in self.roles.items() if name not in gone}
        weights = {name: weight for name, weight in self.weights.items() if name not in gone}
        left = {**self.default_roles_of([column.name for column in table.columns]), **roles}
        of_secrets = () if not secrets or PolicyRole.SENSITIVE in left.values() else (*LIMITS, "hierarchy", "order")
        options = {name: value for name, value in self.options.items() if name not in of_secrets}
        return replace(self, options=options, roles=roles, weights=weights), gone

    @property
    def all_weights(self) -> dict[str, int]:
        """The weights of columns, also of columns that the table may not have."""
        return {**self.default_weights, **self.weights}

    def weights_of(self, columns: Sequence[str]) -> dict[str, int]:
        """The weight of each of these columns, by its exact name or else in another letter case."""
        twins = {one for one, count in Counter(column.lower() for column in columns).items() if count > 1}
        found = dict.fromkeys(columns, 1)
        for given in (self.default_weights, self.weights):
            folded = {name.lower(): weight for name, weight in given.items() if name.lower() not in twins}
            found |= {column: folded[column.lower()] for column in columns if column.lower() in folded}
            found |= {column: given[column] for column in columns if column in given}
        return found


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A valid policy file. `hash` is that of its content."""

    path: Path
    hash: str
    sources: Mapping[str, SourceEntry]
    tables: tuple[TableEntry, ...]
    history_url: str
    history_schema: str = "qidsql"
    owner: str | None = None  # of tables without an entry
    on_new: str | None = None  # the same
    max_statements: int | None = None  # of a whole run
    max_seconds: float | None = None
    max_bytes: int | None = None
    alerts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    release: Release | None = None
    lines: Mapping[KeyPath, int] = field(default_factory=dict)  # of each key, by its path

    def overridden(self, **options: Any) -> "PolicyFile":
        """The file with these policy options set for all tables; None keeps an option. Raises UsageError."""
        given = {name: value for name, value in options.items() if value is not None}
        tables = tuple(replace(entry, options={**entry.options, **given}) for entry in self.tables)
        for entry in tables:
            entry.policy()
        return replace(self, tables=tables)


def read_policy_file(path: Path) -> PolicyFile:
    """The policy file at this path. Raises TomlFileError with all its errors."""
    file = read_toml(path, "write one with: qidsql init SOURCE")
    file.check_format(POLICY_FORMAT)
    reader = _Reader(file)
    found = reader.file("sha256:" + hashlib.sha256(file.written).hexdigest())
    if reader.problems:
        raise TomlFileError([text for _, text in sorted(reader.problems)])
    return found


class _Reader:
    """Reads a parsed file and collects its errors."""

    def __init__(self, file: TomlFile) -> None:
        self.toml = file
        self.path = file.path
        self.content = with_dates_as_text(file.content)
        self.problems: list[tuple[int, str]] = []

    def note(self, path: KeyPath, text: str) -> None:
        self.problems.append((self.line(path), self.toml.located(path, text)))

    def line(self, path: KeyPath) -> int:
        return self.toml.line(path)

    def file(self, hashed: str) -> PolicyFile:
        """The policy file as far as it can be read; complete only if there are no `problems`."""
        content = self.content
        nothing = PolicyFile(self.path, hashed, {}, (), "")
        for path, text in problems(content):
            self.note(path, text)
        if self.problems:
            return nothing
        sources = {name: self.source(name, given) for name, given in content.get("sources", {}).items()}
        if not sources:
            self.note((), 'no source; expected a table such as [sources.clinic] with url = "env:CLINIC_URL"')
        if not content.get("tables"):
            self.note((), 'no table to audit; expected [[tables]] with table = "schema.name"')
        defaults = content.get("defaults", {})
        self.common(defaults, ("defaults",))
        self.patterns(defaults.get("roles", {}))
        tables = tuple(self.entry(place, given, sources) for place, given in enumerate(content.get("tables", [])))
        self.repeated(tables)
        history, run = content.get("history", {}), content.get("run", {})
        return replace(
            nothing,
            sources=sources,
            tables=tables,
            history_url=self.history(history["url"]) if "url" in history else str(beside(self.path, HISTORY_NAME)),
            history_schema=history.get("schema", "qidsql"),
            owner=defaults.get("owner"),
            on_new=defaults.get("on_new"),
            max_statements=run.get("max_statements"),
            max_seconds=run.get("max_seconds"),
            max_bytes=self.size(run.get("max_bytes"), ("run", "max_bytes")),
            alerts=content.get("alerts", {}),
            release=read_keys(Release, content["release"]) if content.get("release") else None,
            lines=self.toml.lines,
        )

    def source(self, name: str, given: Mapping[str, Any]) -> SourceEntry:
        path: KeyPath = ("sources", name)
        url = self.url(given["url"], (*path, "url"))
        return read_keys(SourceEntry, {**given, "url": url}, name=name, line=self.line(path))

    def url(self, text: str, path: KeyPath) -> str:
        """The URL of a source; a path is relative to the folder of the file."""
        if re.search(PASSWORD, text, flags=re.IGNORECASE) or names_a_secret(text):
            self.note(
                path,
                "contains a password, which must not be in this file; put the URL into an environment variable and "
                "write env:NAME, or leave the password to PGPASSWORD or ~/.pgpass",
            )
            return ""
        if text.startswith("env:") or re.match(r"^[a-zA-Z][\w+.-]*:", text) or re.match(r"^\s*\w+\s*=", text):
            return text
        return str(beside(self.path, text))

    def size(self, given: str | None, path: KeyPath) -> int | None:
        try:
            return size_in_bytes("max_bytes", given)
        except UsageError as error:
            self.note(path, str(error))
            return None

    def history(self, text: str) -> str:
        """The path or URL of the history."""
        path: KeyPath = ("history", "url")
        if (kind := re.match(r"([a-zA-Z][\w+.-]+)://", text)) and kind[1] not in STORE_SCHEMES:
            self.note(path, f"is no place for a history; expected {STORES}")
        return self.url(text, path)

    def entry(self, place: int, given: Mapping[str, Any], sources: Mapping[str, SourceEntry]) -> TableEntry:
        path: KeyPath = ("tables", place)
        defaults = self.content.get("defaults", {})
        self.common(given, path)
        own = dict.fromkeys(given.get("roles", {}), path)
        typed = given.get("table", "")
        if redacted(typed) != typed and not typed.startswith('"'):  # in quotes it is always a name
            self.note((*path, "table"), "looks like a URL with a password; expected schema.name, or a pattern")
        source = given.get("source") or (next(iter(sources)) if len(sources) == 1 else "")
        if not source and sources:
            self.note(path, f"source is missing; expected one of {', '.join(sources)}")
        elif source not in sources and sources:
            self.note((*path, "source"), f"no source of this file has this name; there are: {', '.join(sources)}")
        options = {**_policy_options(defaults), **_policy_options(given)}
        for name in ("hierarchy", "hierarchies", *(("order",) if is_file(options.get("order")) else ())):
            if name in options:
                options[name] = str(beside(self.path, options[name]))
        persons = frozenset[str]()
        if self.toml.is_marked((*(path if "entity" in given else ("defaults",)), "entity")):
            persons = frozenset({options["entity"]} - {EACH_ROW})
            options = {name: each for name, each in options.items() if each != EACH_ROW or name != "entity"}
        entry = TableEntry(
            source=source,
            table=given.get("table"),
            line=self.line(path),
            owner=given.get("owner", defaults.get("owner")),
            options=options,
            roles=given.get("roles", {}),
            default_roles={n: r for n, r in defaults.get("roles", {}).items() if n not in given.get("roles", {})},
            weights=given.get("weights", {}),
            default_weights=defaults.get("weights", {}),
            exemptions=(*self.exemptions(given, path), *self.exemptions(defaults, ("defaults",))),
            audit=given.get("audit", True),
            assistants=given.get("assistants", defaults.get("assistants", True)),
            on_new=given.get("on_new", defaults.get("on_new")),
            undecided=self.undecided({**dict.fromkeys(defaults.get("roles", {}), ("defaults",)), **own}) | persons,
            decided=not self.toml.is_marked((*path, "audit")),
        )
        roles = {**entry.default_roles_of(options.get("keep", ())), **entry.roles}
        roles = {name.lower(): role for name, role in roles.items()}
        for name in options.get("keep", ()):
            if (role := roles.get(name.lower())) in (PolicyRole.DIRECT_IDENTIFIER, PolicyRole.QUASI_IDENTIFIER):
                self.note((*(path if "keep" in given else ("defaults",)), "keep"), f"{name} is a {role}; choose one")
        try:
            entry.policy()
        except UsageError as error:
            named = [word for word in re.findall(r"\w+", str(error)) if word in SETTINGS]
            places = [(*table, key) for table in (path, ("defaults",)) for key in named]
            at = next((place for place in places if place in self.toml.lines), path)
            self.note(at, str(error))
        return entry

    def undecided(self, places: Mapping[str, KeyPath]) -> frozenset[str]:
        """The columns whose role is marked CHECK; `places` are the tables of the file that have their roles."""
        return frozenset(name for name, path in places.items() if self.toml.is_marked((*path, "roles", name)))

    def common(self, given: Mapping[str, Any], path: KeyPath) -> None:
        """Checks keys of [defaults] and [[tables]] beyond the schema."""
        if "k" in given and "preset" in given:
            self.note((*path, "preset"), "cannot be combined with k; choose one")
        for place, each in enumerate(given.get("exceptions", [])):
            at: KeyPath = (*path, "exceptions", place)
            if "finding" not in each and "columns" not in each:
                self.note(at, "accepts every finding; expected finding = a kind, columns = [...] or both")
            try:
                date.fromisoformat(each["expires"])
            except ValueError:
                self.note((*at, "expires"), "is not a valid date; expected one such as 2027-03-31")

    def patterns(self, roles: Mapping[str, str]) -> None:
        """Checks names of [defaults.roles] that are patterns: nobody could confirm one for columns yet to come."""
        for name in roles:
            path: KeyPath = ("defaults", "roles", name)
            if re.search(PATTERN, name) and self.toml.is_marked(path):
                self.note(path, "is a pattern, and marked CHECK; decide on it, or name the columns")

    def exemptions(self, given: Mapping[str, Any], path: KeyPath) -> Iterator[Exemption]:
        for place, each in enumerate(given.get("exceptions", [])):
            with suppress(ValueError):  # not a day: already reported by `common`
                yield read_keys(Exemption, each, line=self.line((*path, "exceptions", place)))

    def repeated(self, tables: Sequence[TableEntry]) -> None:
        seen: dict[tuple[str, str | None], TableEntry] = {}
        for place, entry in enumerate(tables):
            first = seen.setdefault((entry.source, entry.table), entry)
            if first is not entry:
                self.note(("tables", place), f"this table is already on line {first.line}; remove one of them")


def beside(file: Path, path: str) -> Path:
    """A path of that file, resolved from its folder."""
    return Path(os.path.normpath(file.parent / Path(path).expanduser())) if file.parent != Path() else Path(path)


def _policy_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a Policy; a preset sets k."""
    options = {key: value for key, value in given.items() if key in (*SETTINGS, *OF_COPIES)}
    if "preset" in given:
        options["k"] = PRESETS[given["preset"]].k
    return options
