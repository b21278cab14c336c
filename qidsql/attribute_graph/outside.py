"""Tables known outside the database: published tables and background knowledge, from a toml file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NoReturn

from qidsql.attribute_graph.graph import GraphTable, Refusal
from qidsql.core.files import Key, TomlFile, read_toml, unknown_key
from qidsql.core.tables import Attribute, Ground, SameAttribute, TableName, find_attribute
from qidsql.errors import TomlFileError, UnknownName, UsageError

FORMAT_OF_OUTSIDE = 1
KEYS = ("format", "tables", "dependencies", "merges")
TABLE_KEYS = ("name", "columns", "reason", "dependencies")
MERGE_KEYS = ("accept", "refuse")


@dataclass(frozen=True, slots=True)
class Outside:
    """The tables of the source and those of the file, with the file's statements on both."""

    tables: tuple[GraphTable, ...]
    same_attributes: tuple[SameAttribute, ...] = ()
    refused: tuple[Refusal, ...] = ()


def read_outside(path: Path | None, tables: Sequence[GraphTable]) -> Outside:
    """Add a file to the tables of a source.

    In the file one name is one attribute, in whichever of its tables it is; merges connect it to the source's
    attributes. Dependencies may form cycles: attributes that determine each other. Raises UsageError, UnknownName
    with the file, the line and the key of each mistake.
    """
    if path is None:
        return Outside(tuple(tables))
    file = read_toml(path)
    file.check_format(FORMAT_OF_OUTSIDE)
    return _Reader(file).read(tables)


class _Reader:
    def __init__(self, file: TomlFile) -> None:
        self.file, self.content = file, file.content

    def read(self, known: Sequence[GraphTable]) -> Outside:
        self.only((), self.content, KEYS)
        if self.content.get("format", FORMAT_OF_OUTSIDE) != FORMAT_OF_OUTSIDE:
            self.fail(("format",), f"expected {FORMAT_OF_OUTSIDE}")
        added = self.tables(known)
        tables = [*self.with_dependencies(known), *added]
        accepted = [each for key, each in self.groups(("merges", "accept"), tables)]
        refused = [
            (key, pair) for key, each in self.groups(("merges", "refuse"), tables) for pair in combinations(each, 2)
        ]
        self.consistent(accepted, refused)
        detail = f"accepted in {self.file.path.name}"
        same_attributes = [
            SameAttribute(each[0], other, Ground.DECLARED, detail) for each in accepted for other in each[1:]
        ]
        apart = [Refusal(*pair) for _, pair in refused]
        return Outside(tuple(tables), (*self.one_name(added, apart), *same_attributes), tuple(apart))

    def tables(self, known: Sequence[GraphTable]) -> list[GraphTable]:
        taken = {str(each.name): each for each in known} | {each.name.name: each for each in known}
        found: list[GraphTable] = []
        for number, given in enumerate(self.items(("tables",), "[[tables]]")):
            key: Key = ("tables", number)
            if not isinstance(given, dict):
                self.fail(key, "expected a table with a name and columns")
            self.only(key, given, TABLE_KEYS)
            name = self.text_at((*key, "name"), given.get("name"))
            if name in taken:
                place = "in the source too" if not taken[name].outside else "listed twice"
                self.fail((*key, "name"), f"{name} is {place}; give the table another name")
            columns = tuple(self.texts((*key, "columns"), given.get("columns")))
            if len(set(columns)) < len(columns):
                twice = next(column for column in columns if columns.count(column) > 1)
                self.fail((*key, "columns"), f"{twice} is in it twice")
            reason = self.text_at((*key, "reason"), given["reason"]) if "reason" in given else ""
            table = GraphTable(TableName(name), columns, "outside", reason=reason)
            pairs = self.pairs((*key, "dependencies"), given.get("dependencies", {}), table)
            found.append(replace(table, dependencies=pairs))
            taken[name] = table
        return found

    def with_dependencies(self, known: Sequence[GraphTable]) -> list[GraphTable]:
        """The source's tables with the dependencies that the file declares for them."""
        given = self.content.get("dependencies", {})
        if not isinstance(given, dict):
            self.fail(("dependencies",), 'expected tables such as [dependencies."main.patients"]')
        by_name = {each.name.name: each for each in known if sum(o.name.name == each.name.name for o in known) == 1}
        by_name |= {str(each.name): each for each in known}
        declared: dict[GraphTable, tuple[tuple[str, str], ...]] = {}
        for name, pairs in given.items():
            if name not in by_name:
                self.fail(("dependencies", name), str(UnknownName("table", [name], "the source", by_name)))
            declared[by_name[name]] = self.pairs(("dependencies", name), pairs, by_name[name])
        return [replace(each, dependencies=(*each.dependencies, *declared.get(each, ()))) for each in known]

    def pairs(self, key: Key, given: object, table: GraphTable) -> tuple[tuple[str, str], ...]:
        """The dependencies of a table, written as column = [columns]."""
        if not isinstance(given, dict):
            self.fail(key, 'expected a line for each column that determines others, such as zip_code = ["city"]')
        found = []
        for left, rights in given.items():
            here = (*key, left)
            rights = self.texts(here, rights)
            missing = [each for each in (left, *rights) if each not in table.columns]
            if missing:
                self.fail(here, str(UnknownName("column", missing, str(table.name), table.columns)))
            if left in rights:
                self.fail(here, f"{left} determines itself; leave it out on the right")
            found += [(left, right) for right in rights]
        return tuple(found)

    def groups(self, key: Key, tables: Sequence[GraphTable]) -> list[tuple[Key, tuple[Attribute, ...]]]:
        """The lists of attributes at a key, each attribute found."""
        merges = self.content.get("merges", {})
        if not isinstance(merges, dict):
            self.fail(("merges",), "expected a table with accept and refuse")
        self.only(("merges",), merges, MERGE_KEYS)
        known = [attribute for table in tables for attribute in table.attributes]
        found = []
        for number, names in enumerate(self.items(key, "lists of two attributes or more")):
            here: Key = (*key, number)
            group = []
            for name in self.texts(here, names):
                try:
                    group.append(find_attribute(name, known))
                except UsageError as error:
                    self.fail(here, str(error))
            if key[-1] == "refuse" and len(group) > 2:
                self.fail(here, 'expected two attributes that are not the same, such as ["voters.code", "wards.code"]')
            if len(set(group)) < 2:
                self.fail(here, 'expected two different attributes, such as ["voters.zip", "patients.zip_code"]')
            found.append((here, tuple(group)))
        return found

    def consistent(
        self, accepted: Sequence[Sequence[Attribute]], refused: Iterable[tuple[Key, tuple[Attribute, Attribute]]]
    ) -> None:
        """Raise for pairs that are both accepted, also in several steps, and refused."""
        import networkx as nx

        joined = nx.Graph()
        for group in accepted:
            nx.add_path(joined, group)
        for key, (left, right) in refused:
            if left in joined and right in joined and nx.has_path(joined, left, right):
                chain = " = ".join(map(str, nx.shortest_path(joined, left, right)))
                self.fail(key, f"{left} and {right} are refused, and accepted as one attribute: {chain}; choose one")

    def one_name(self, added: Sequence[GraphTable], refused: Sequence[Refusal]) -> list[SameAttribute]:
        """The attributes that have one name in the file, without refused pairs."""
        apart = {frozenset((each.left, each.right)) for each in refused}
        holders: dict[str, list[Attribute]] = {}
        for table in added:
            for attribute in table.attributes:
                holders.setdefault(attribute.column, []).append(attribute)
        found = []
        for group in holders.values():
            whole = any(pair in apart for pair in map(frozenset, combinations(group, 2)))
            pairs = combinations(group, 2) if whole else ((group[0], other) for other in group[1:])
            found += [
                SameAttribute(left, right, Ground.DECLARED, f"one name in {self.file.path.name}")
                for left, right in pairs
                if frozenset((left, right)) not in apart
            ]
        return found

    # values of keys

    def items(self, key: Key, expected: str) -> Sequence[Any]:
        content: Any = self.content
        for part in key:
            content = content.get(part, []) if isinstance(content, dict) else []
        if not isinstance(content, list):
            self.fail(key, f"expected {expected}")
        return content

    def text_at(self, key: Key, given: object) -> str:
        if not isinstance(given, str) or not given.strip():
            self.fail(key, "expected a text" if given is not None else "it is missing; expected a text")
        return given

    def texts(self, key: Key, given: object) -> list[str]:
        if not isinstance(given, list) or not given or not all(isinstance(each, str) and each for each in given):
            self.fail(key, f'{"it is missing; " if given is None else ""}expected a list of names, such as ["a", "b"]')
        return given

    def only(self, key: Key, given: Mapping[str, object], known: Sequence[str]) -> None:
        for name in given:
            if name not in known:
                self.fail((*key, name), unknown_key(name, known))

    def fail(self, key: Key, text: str) -> NoReturn:
        """Raise TomlFileError with the place of a key; of its parent, if it is missing."""
        raise TomlFileError([self.file.located(key, text)])


# Which attributes of an outside table are the same as others, by their names, if the user accepts these.


def outside_names(tables: Sequence[GraphTable]) -> list[SameAttribute]:
    """Attributes of outside tables paired with those of the source that have the same name, in any letter case.

    The type of an outside attribute is unknown; two outside ones of one name are the same anyway.
    """
    inside = [attribute for table in tables if not table.outside for attribute in table.attributes]
    return [
        SameAttribute(attribute, other, Ground.NAME, f"{attribute} and {other} have one name")
        for table in tables
        if table.outside
        for attribute in table.attributes
        for other in inside
        if attribute.column.casefold() == other.column.casefold()
    ]
