"""The proposed qidsql.toml: its text, and what an update adds to one that a person has corrected.

Names of tables and columns come from the database and may hold anything: they enter as TOML strings and keys, made by
tomlkit, and into comments only without line ends and control characters.
"""

import glob
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qidsql.errors import UsageError
from qidsql.figures import plural
from qidsql.findings.init import InitResult, Proposal, TableProposal, word
from qidsql.schema import TableName
from qidsql.sql.relation import table_node
from qidsql.toml_file import TomlFile

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

HEAD = """\
# What qidsql audits, and what each column is to it. Proposed by `qidsql init`: read it, and correct it.
#   direct identifier  names one person (a name, an e-mail address, a number): not to be published; left out
#   quasi-identifier   known outside (birth date, place, work): together these single people out; audited
#   sensitive          not known outside (a diagnosis, an income); left out
#   other              says nothing of a person; left out
# Behind each role stands the reason. CHECK marks what names and counts do not settle.
"""
K = 5
WIDEST = 64  # characters before the reasons, at most
PATTERN = r"[*?\[]"
LINE_ENDS = "\u2028\u2029\x85"


def draft(result: InitResult) -> str:
    """The text of a new file."""
    parts = [
        HEAD,
        "format = 1\n",
        f"[sources.{_key(result.name)}]\nurl = {_string(result.url)}\n",
        f"[defaults]\n{_line('k', str(K), 'so many rows share each combination of quasi-identifiers', 0)}\n",
        *(_table(table, None) for table in result.tables),
    ]
    parts += [_remark(f"Left out: {table}: {reason}") for table, reason in result.left_out]
    return "\n".join(parts)


def updated(file: TomlFile, result: InitResult) -> tuple[str, list[str]]:
    """The file's text with what is new to it, and what that is, in words. What stands there stays as it is.

    Raises UsageError when it names another source.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    text, path = file.text, str(file.path)
    try:
        document = tomlkit.parse(text)
    except TOMLKitError:  # its own words could quote what stands in the file
        raise UsageError(f"{path} cannot be added to as it is; write another file (--output)") from None
    source = _source(document, result, path)
    added: list[str] = []
    new: list[str] = []
    for table in result.tables:
        entries = [entry for entry, typed in _entries(document, source) if _names(typed, table.table)]
        if not entries and f"# table = {_string(named(table.table))}" not in text:
            new.append(_table(table, source if len(document.get("sources", {})) > 1 else None))
            added.append(str(table.table))
        exact = [each for each in entries if _is_plain(str(each.get("table", "")), table.table)]
        if exact:
            added += [f"{table.table}: {name}" for name in _add_roles(exact, table)]
    text = tomlkit.dumps(document)
    if new:
        text = "\n".join([text if text.endswith("\n") else text + "\n", *new])
    return text, added


def gone(file: TomlFile, result: InitResult) -> list[str]:
    """The tables and columns that the file has roles for and the source no longer has.

    Tables are not told where only one schema was looked at. Raises UsageError when the file names another source.
    """
    import tomlkit

    document = tomlkit.parse(file.text)
    found = []
    for entry, typed in _entries(document, _source(document, result, str(file.path))):
        meant = [(table, columns) for table, columns in result.there if _names(typed, table)]
        if not meant and result.schema is None:
            found.append(typed)
        for table, columns in meant:
            if _is_plain(typed, table):
                known = {column.casefold() for column in columns}
                roles = entry.get("roles")
                own = [*(roles if isinstance(roles, Mapping) else ()), entry.get("entity")]
                found += [f"{table}: {name}" for name in own if name is not None and str(name).casefold() not in known]
    return found


def slug(label: str) -> str:
    """A short name for a source."""
    place = re.sub(r"[?].*$", "", label).rstrip("/").rpartition("/")[2]
    name = re.sub(r"\W+", "_", place.partition(".")[0]).strip("_").lower()
    return name if name and name.isascii() else "source"


def named(table: TableName) -> str:
    """The table's name as the file writes it: plainly where that can be read in one way only.

    A name that looks like a pattern is written as the pattern that only itself meets.
    """
    if re.search(PATTERN, str(table)):
        return glob.escape(str(table))
    if all(re.fullmatch(r"[\w -]+", part) for part in (table.name, table.schema) if part):
        return str(table)
    return table_node(TableName(table.name, table.schema)).sql("postgres")


def _table(table: TableProposal, source: str | None) -> str:
    """The section of a table; commented out where nothing is left to audit."""
    size = "" if table.rows is None else f", {plural(table.rows, 'row')}"
    head = [("table", _string(named(table.table)), f"{table.kind}{size}")]
    if source is not None:
        head.insert(0, ("source", _string(source), ""))
    if table.entity is not None:
        head.append(("entity", _string(table.entity), table.entity_reason))
    elif table.entity_reason:
        head.append(("# entity", '"..."', f"one of {table.entity_reason}, if it tells apart whom the table is about"))
    roles = [_role(column) for column in table.columns if column.column != table.entity]
    width = min(WIDEST, max(len(f"{key} = {value}") for key, value, _ in roles + head) if roles else 0)
    lines = ["[[tables]]", *(_line(*each, width) for each in head)]
    lines += ["[tables.roles]", *(_line(*each, width) for each in roles)]
    if not table.auditable:
        why = "Nothing here is about a person" if table.of_things else "No column would be left to audit here"
        lines = [f"{why}, as far as names tell. Take the # away to audit it after all.", *lines]
        lines = [f"# {line}" for line in lines]
    return "\n".join(lines) + "\n"


def _role(column: Proposal) -> tuple[str, str, str]:
    key = _key(column.column)
    doubt = f"CHECK: {column.doubt.rstrip('?')}? " if column.doubt.endswith("?") else f"CHECK: {column.doubt}. "
    reason = (doubt if column.doubt else "") + column.reason
    if not column.readable:
        key, reason = f"# {key}", f"this user may not read it. {reason}"
    return key, _string(word(column.role)), reason


def _line(key: str, value: str, comment: str, width: int) -> str:
    text = f"{key} = {value}"
    return f"{text.ljust(width)}  {_remark(comment, '').rstrip()}" if comment else text


def _remark(text: str, end: str = "\n") -> str:
    """A comment: one line, whatever the names in it hold."""
    plain = "".join(" " if sign < " " or sign in LINE_ENDS or "\x7f" <= sign < "\xa0" else sign for sign in text)
    return f"# {plain}{end}"


def _key(name: str) -> str:
    from tomlkit.items import SingleKey

    return SingleKey(name).as_string()


def _string(value: str) -> str:
    import tomlkit

    return tomlkit.item(value).as_string()


def _source(document: "TOMLDocument", result: InitResult, path: str) -> str:
    """What the file calls the source. Raises UsageError where it does not have it."""
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
    """Whether a path, as the file means it, is the source."""
    try:
        return path.samefile(result.source)
    except (OSError, ValueError):
        return False


def _entries(document: "TOMLDocument", source: str) -> Iterator[tuple[Any, str]]:
    """The tables that the file lists for the source, each with its name or pattern."""
    tables = document.get("tables")
    for entry in tables if isinstance(tables, list) else ():
        if isinstance(entry, Mapping) and entry.get("source", source) == source:
            yield entry, str(entry.get("table", ""))


def _names(typed: str, table: TableName) -> bool:
    """Whether an entry is about the table."""
    spellings = {named(table), str(table), table.name, table_node(table).sql("postgres")}
    low = {spelling.casefold() for spelling in spellings}
    return typed.casefold() in low or any(fnmatchcase(spelling, typed.casefold()) for spelling in low)


def _is_plain(typed: str, table: TableName) -> bool:
    """Whether an entry is about this table alone."""
    return typed == named(table) or not re.search(PATTERN, typed)


def _add_roles(entries: list[Any], table: TableProposal) -> list[str]:
    """Adds the columns that none of the table's entries has a word for to the first one."""
    import tomlkit

    known: set[str] = set()
    for entry in entries:
        roles = entry.get("roles")
        known |= {str(name).casefold() for name in roles} if isinstance(roles, Mapping) else set()
        known |= {str(entry.get("entity", "")).casefold()}
    new = [c for c in table.columns if c.readable and c.column.casefold() not in known]
    if new and not isinstance(entries[0].get("roles"), Mapping):
        entries[0]["roles"] = tomlkit.table()
    for column in new:
        _, _, reason = _role(column)
        item = tomlkit.item(word(column.role))
        item.comment(_remark(f"new: {reason}", "").removeprefix("# "))
        item.trivia.comment_ws = "  "
        entries[0]["roles"].add(column.column, item)
    return [column.column for column in new]
