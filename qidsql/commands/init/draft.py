"""The proposed qidsql.toml: its text, and the additions to a file that a person has corrected.

Names of tables and columns come from the database and may contain anything: they are written as TOML strings and keys
by tomlkit, and in comments only without line ends and control characters.
"""

import glob
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qidsql.column_roles.proposal import Proposal, TableProposal
from qidsql.commands.init.command import NO_COLUMNS, InitResult, SkippedTable
from qidsql.core.files import KeyPath, TomlFile, parsed
from qidsql.core.policy import EACH_ROW
from qidsql.core.tables import PolicyRole, TableName, fits
from qidsql.errors import UsageError
from qidsql.sql.relation import table_node
from qidsql.wording.texts import plural

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

HEAD = """\
# The tables that qidsql audits, and the role of each column. Proposed by `qidsql init`: read it, and correct it.
#   direct identifier  names one person (a name, an e-mail address, a number): not to be published; left out
#   quasi-identifier   known outside (birth date, place, work): together these single people out; audited
#   sensitive          not known outside (a diagnosis, an income); left out
#   other              not about a person; left out
# A comment after each role gives the reason. CHECK marks roles that names and counts do not settle: a run lists them as
# undecided until you remove the word. Tables with audit = false are known, and not audited.
"""
K_OF_DRAFT = 5
WIDEST = 64  # characters before the reasons, at most
PATTERN = r"[*?\[]"
LINE_ENDS = "\u2028\u2029\x85"


def draft(result: InitResult) -> str:
    """The text of a new file."""
    parts = [
        HEAD,
        "format = 1\n",
        f"[sources.{_key(result.name)}]\nurl = {_string(result.url)}\n{_scope(result)}",
        f"[defaults]\n{_line('k', str(K_OF_DRAFT), 'so many rows share each combination of quasi-identifiers', 0)}\n",
        *(_table(table, None) for table in result.tables),
    ]
    parts += [_left_out(each, None) for each in result.left_out if each.reason != NO_COLUMNS]
    parts += [_remark(f"Left out: {e.table}: {e.reason}") for e in result.left_out if e.reason == NO_COLUMNS]
    return "\n".join(parts)


class Update(NamedTuple):
    """The new text of a file, the entries added, the entries commented out since the source no longer has them, other
    entries that the source no longer has, and such entities, in words; and the columns that are marked CHECK in it."""

    text: str
    added: list[str]
    retired: list[str]
    left: list[str]
    entities: list[str]
    marked: frozenset[tuple[TableName, str]]


def updated(file: TomlFile, result: InitResult) -> Update:
    """The file with new entries added. Existing entries are unchanged; vanished ones are commented out, and one that
    init left out because this user could not read the table is filled in once it can be read.

    Raises UsageError if the file names another source.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    path = str(file.path)
    try:
        _source(tomlkit.parse(file.text), result, path)
        text, retired, left, entities = without_vanished(file, result)
        document = tomlkit.parse(text)
    except TOMLKitError:  # its message could quote the file
        raise UsageError(f"{path} cannot be updated; write another file (--output)") from None
    source = _source(document, result, path)
    scope = document["sources"][source].get("scope", ())
    several = source if len(document.get("sources", {})) > 1 else None
    listed = _Listed((entry, typed) for entry, typed in _all_entries(document) if entry.get("source", source) == source)
    added: list[str] = []
    new: list[str] = []
    for table in (*result.tables, *result.aside):
        entries = listed.about(table.table)
        if not entries and table not in result.aside and _within(scope, table.table):
            new.append(_table(table, several))
            added.append(str(table.table))
        plain = [each for each in entries if _is_plain(str(each.get("table", "")), table.table)]
        listing = [each for each in entries if isinstance(each.get("roles"), Mapping)]
        fitting = plain or listing[:1]
        if fitting and _was_unreadable(fitting[0]):
            _fill_in(fitting[0], table)
            added.append(str(table.table))
        added += [f"{table.table}: {name}" for name in _add_roles(fitting, table)]
    for each in result.left_out:
        if not listed.about(each.table) and each.reason != NO_COLUMNS and _within(scope, each.table):
            new.append(_left_out(each, several))
            added.append(str(each.table))
    text = tomlkit.dumps(document)
    if new:
        text = "\n".join([text if text.endswith("\n") else text + "\n", *new])
    return Update(text, added, retired, left, entities, _marked(parsed(file.path, text.encode()), source, result))


def _marked(file: TomlFile, source: str, result: InitResult) -> frozenset[tuple[TableName, str]]:
    """The columns of the examined tables whose role the file marks CHECK, or the entity."""
    found = set()
    for place, entry in enumerate(file.content.get("tables", ())):
        if entry.get("source", source) != source:
            continue
        paths = {name: ("tables", place, "roles", name) for name in entry.get("roles", {})}
        paths |= {entry["entity"]: ("tables", place, "entity")} if "entity" in entry else {}
        names = {name.casefold() for name, path in paths.items() if file.is_marked(path)}
        for table in result.tables if names else ():
            if entry_names(entry.get("table", ""), table.table):
                found |= {(table.table, each.column) for each in table.columns if each.column.casefold() in names}
    return frozenset(found)


def _was_unreadable(entry: Any) -> bool:
    """Whether the entry is as init writes it for a table that this user may not read."""
    if entry.get("audit") is not False or "roles" in entry:
        return False
    return str(entry.value.item("audit").trivia.comment).startswith("# CHECK:")


def _fill_in(entry: Any, table: TableProposal) -> None:
    """Let the table be audited; `_add_roles` adds its columns."""
    import tomlkit

    del entry["audit"]
    if not table.auditable:
        entry["audit"] = False
    if table.entity is not None:
        entry["entity"] = tomlkit.item(table.entity)
        entry["entity"].comment(_remark(_entity_reason(table), "").removeprefix("# "))
    entry["roles"] = tomlkit.table()


def without_vanished(file: TomlFile, result: InitResult) -> tuple[str, list[str], list[str], list[str]]:
    """The file's text with a # before the tables and roles that the source no longer has, and the list of these. Lists
    of what else is gone: entries that share a line with others, and entities, without which rows would be counted.

    Tables are left alone if only a part of the source was examined.
    """
    import tomlkit

    document = tomlkit.parse(file.text)
    source = _source(document, result, str(file.path))
    lines = file.text.split("\n")
    retired: list[str] = []
    left: list[str] = []
    entities: list[str] = []
    there: dict[str, list[tuple[TableName, tuple[str, ...]]]] = {}
    for each in result.there:
        for spelling in spellings(each[0]):
            there.setdefault(spelling, []).append(each)
    for place, (entry, typed) in enumerate(_all_entries(document)):
        if entry.get("source", source) != source:
            continue
        meant = there.get(typed.casefold(), [])
        if re.search(PATTERN, typed):
            meant = [each for each in result.there if entry_names(typed, each[0])]
        if not meant and not result.scope:
            block = _block(file, place)
            (retired if block else left).append(typed)
            for number in block:
                lines[number] = _retired(lines[number]) if lines[number].strip() else ""
        for table, columns in meant:
            if not _is_plain(typed, table) or not columns:  # none of what this user cannot read
                continue
            known = {column.casefold() for column in columns}
            for key, name in _columns_named(entry):
                if name.casefold() in known:
                    continue
                line = _own_line(file, ("tables", place, key, name))
                (left if line is None else retired).append(f"{table}: {name}")
                if line is not None:
                    lines[line] = _retired(lines[line])
            entity = str(entry.get("entity", EACH_ROW))
            if entity != EACH_ROW and entity.casefold() not in known:
                entities.append(f"{table}: {entity}")
    return "\n".join(lines), list(dict.fromkeys(retired)), list(dict.fromkeys(left)), entities


def _columns_named(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The columns to which an entry gives a role or a weight, each with its key."""
    for key in ("roles", "weights"):
        if isinstance(entry.get(key), Mapping):
            yield from ((key, str(name)) for name in entry[key])


def _retired(line: str) -> str:
    return f"# no longer in the source: {line}"


def _block(file: TomlFile, place: int) -> range:
    """The lines, from 0, of an entry written as [[tables]]; empty for others."""
    begin = file.lines.get(("tables", place))
    written = file.text.split("\n")
    if begin is None or not written[begin - 1].lstrip().startswith("[["):
        return range(0)
    inside = {line for path, line in file.lines.items() if path[:2] == ("tables", place)}
    following = min((line for line in file.lines.values() if line > max(inside)), default=len(written) + 1)
    end = following - 1
    while end > begin and written[end - 1].lstrip()[:1] in ("", "#"):  # these lines belong to the next entry
        end -= 1
    return range(begin - 1, end)


def _own_line(file: TomlFile, path: KeyPath) -> int | None:
    """The line, from 0, that contains only this key; None if the key shares it, or spans several lines."""
    line = file.lines.get(path)
    alone = all(each == path[: len(each)] for each, number in file.lines.items() if number == line)
    written = file.text.split("\n")
    return line - 1 if line is not None and alone and _is_statement(written[line - 1]) else None


def _is_statement(line: str) -> bool:
    import tomllib

    try:
        return bool(tomllib.loads(line))
    except tomllib.TOMLDecodeError:
        return False


def slug(label: str) -> str:
    """A short name for a source, from its label."""
    place = re.sub(r"[?].*$", "", label).rstrip("/").rpartition("/")[2]
    name = re.sub(r"\W+", "_", place.partition(".")[0]).strip("_").lower()
    return name if name and name.isascii() else "source"


def written_name(table: TableName) -> str:
    """The table's name as written in the file: unquoted if that is unambiguous.

    A name that looks like a pattern is written as the pattern that matches only itself.
    """
    if re.search(PATTERN, str(table)):
        return glob.escape(str(table))
    if all(re.fullmatch(r"[\w -]+", part) for part in (table.name, table.schema) if part):
        return str(table)
    return table_node(TableName(table.name, table.schema)).sql()


def _scope(result: InitResult) -> str:
    """The patterns of the tables that the file covers, if not all were examined."""
    if not result.scope:
        return ""
    patterns = ", ".join(map(_string, result.scope))
    return _line("scope", f"[{patterns}]", "the tables that this file covers", 0) + "\n"


def _left_out(table: SkippedTable, source: str | None) -> str:
    """The section of a table without proposals."""
    head = [("table", _string(written_name(table.table)), "")]
    head += [("audit", "false", table.reason if table.certain else f"CHECK: {table.reason}")]
    if source is not None:
        head.insert(0, ("source", _string(source), ""))
    return "\n".join(["[[tables]]", *(_line(*each, 0) for each in head)]) + "\n"


def _table(table: TableProposal, source: str | None) -> str:
    """The section of a table; with audit = false if no column is left to audit."""
    size = "" if table.rows is None else f", {plural(table.rows, 'row')}"
    head = [("table", _string(written_name(table.table)), f"{table.kind}{size}")]
    if source is not None:
        head.insert(0, ("source", _string(source), ""))
    if not table.auditable:
        why = "nothing here is about a person" if table.of_things else "no column would be left to audit"
        head.append(("audit", "false", f"{why}, judging by names; remove this line to audit it anyway"))
    if table.entity is not None:
        head.append(("entity", _string(table.entity), _entity_reason(table)))
    elif table.entity_reason:
        head.append(("# entity", '"..."', f"one of {table.entity_reason}, if it identifies the persons of the table"))
    roles = [_role(column) for column in table.columns if column.column != table.entity]
    width = min(WIDEST, max(len(f"{key} = {value}") for key, value, _ in roles + head) if roles else 0)
    lines = ["[[tables]]", *(_line(*each, width) for each in head)]
    lines += ["[tables.roles]", *(_line(*each, width) for each in roles)]
    return "\n".join(lines) + "\n"


def _entity_reason(table: TableProposal) -> str:
    return f"CHECK: {table.entity_doubt} {table.entity_reason}" if table.entity_doubt else table.entity_reason


def _role(column: Proposal) -> tuple[str, str, str]:
    key = _key(column.column)
    doubt = f"CHECK: {column.doubt.rstrip('?')}? " if column.doubt.endswith("?") else f"CHECK: {column.doubt}. "
    reason = (doubt if column.doubt else "") + column.reason
    if not column.readable:
        key, reason = f"# {key}", f"this user may not read it. {reason}"
    return key, _string(column.role), reason


def _line(key: str, value: str, comment: str, width: int) -> str:
    text = f"{key} = {value}"
    return f"{text.ljust(width)}  {_remark(comment, '').rstrip()}" if comment else text


def _remark(text: str, end: str = "\n") -> str:
    """A comment on one line, without line ends or control characters."""
    plain = "".join(" " if sign < " " or sign in LINE_ENDS or "\x7f" <= sign < "\xa0" else sign for sign in text)
    return f"# {plain}{end}"


def _key(name: str) -> str:
    from tomlkit.items import SingleKey

    return SingleKey(name).as_string()


def _string(value: str) -> str:
    import tomlkit

    return tomlkit.item(str(value)).as_string()


def _source(document: "TOMLDocument", result: InitResult, path: str) -> str:
    """The name of the source in the file. Raises UsageError if the file does not have it."""
    sources = document.get("sources")
    named_here = sources if isinstance(sources, Mapping) else {}
    for name, source in named_here.items():
        url = source.get("url") if isinstance(source, Mapping) else None
        if url in (result.url, result.source) or (isinstance(url, str) and _same_file(Path(path).parent / url, result)):
            return str(name)
    known = ", ".join(map(str, named_here)) or "none"
    raise UsageError(
        f"{path} has no source with url = {_string(result.url)} (it has: {known}); add it under [sources.NAME], or "
        f"write another file (--output)"
    )


def _same_file(path: Path, result: InitResult) -> bool:
    """Whether a path in the file is the source."""
    try:
        return path.samefile(result.source)
    except (OSError, ValueError):
        return False


def _all_entries(document: "TOMLDocument") -> Iterator[tuple[Any, str]]:
    """The tables that the file lists, each with its name or pattern."""
    tables = document.get("tables")
    for entry in tables if isinstance(tables, list) else ():
        yield (entry, str(entry.get("table", ""))) if isinstance(entry, Mapping) else ({}, "")


class _Listed:
    """The entries of a source, found by table name."""

    def __init__(self, entries: Iterable[tuple[Any, str]]) -> None:
        found = list(entries)
        self._entries = [entry for entry, _ in found]
        self._named: dict[str, list[int]] = {}
        self._patterns: list[tuple[int, str]] = []
        for place, (_, typed) in enumerate(found):
            self._named.setdefault(typed.casefold(), []).append(place)
            if re.search(PATTERN, typed):
                self._patterns.append((place, typed))

    def about(self, table: TableName) -> list[Any]:
        """The entries about a table, in the order of the file."""
        places = {place for spelling in spellings(table) for place in self._named.get(spelling, ())}
        places |= {place for place, typed in self._patterns if entry_names(typed, table)}
        return [self._entries[place] for place in sorted(places)]


def entry_names(typed: str, table: TableName) -> bool:
    """Whether an entry is about the table."""
    low = spellings(table)
    return typed.casefold() in low or any(fnmatchcase(spelling, typed.casefold()) for spelling in low)


def spellings(table: TableName) -> set[str]:
    """The spellings of a table's name in an entry, in lower case."""
    written = {written_name(table), str(table), table.name, table_node(table).sql()}
    return {each.casefold() for each in written}


def _within(scope: Any, table: TableName) -> bool:
    """Whether the file covers the table."""
    patterns = scope if isinstance(scope, list) else []
    return not patterns or any(fits(str(pattern), str(table)) for pattern in patterns)


def _is_plain(typed: str, table: TableName) -> bool:
    """Whether an entry is about this table alone."""
    return typed == written_name(table) or not re.search(PATTERN, typed)


def _add_roles(entries: list[Any], table: TableProposal) -> list[str]:
    """Add the columns that no entry of the table lists to its first entry; return their names.

    A pattern that only lists columns to leave out gets no quasi-identifier: its tables are audited for these anyway.
    """
    import tomlkit

    if not entries or (entries[0].get("audit") is False and "roles" not in entries[0]):
        return []
    given = [each["roles"] for each in entries if isinstance(each.get("roles"), Mapping)]
    lists = entries[0].get("audit") is False or any(PolicyRole.QUASI_IDENTIFIER in roles.values() for roles in given)
    everything = lists or _is_plain(str(entries[0].get("table", "")), table.table)
    known: set[str] = set()
    for entry in entries:
        roles = entry.get("roles")
        known |= {str(name).casefold() for name in roles} if isinstance(roles, Mapping) else set()
        known |= {str(entry.get("entity", "")).casefold()}
    new = [c for c in table.columns if c.readable and c.column.casefold() not in known]
    new = [c for c in new if everything or c.role is not PolicyRole.QUASI_IDENTIFIER]
    if new and not isinstance(entries[0].get("roles"), Mapping):
        entries[0]["roles"] = tomlkit.table()
    for column in new:
        _, _, reason = _role(column)
        item = tomlkit.item(str(column.role))
        item.comment(_remark(f"new: {reason}", "").removeprefix("# "))
        item.trivia.comment_ws = "  "
        entries[0]["roles"].add(column.column, item)
    return [column.column for column in new]
