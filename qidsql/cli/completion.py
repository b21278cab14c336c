"""Completion in a shell: commands, options and their values, and the tables and columns of the source typed before.

An option's metavar says what completes it. The source is opened for a few seconds at most, and only its catalog is
read. A source that cannot be opened completes nothing; no error is shown, since it would end up in what is typed.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import typer

from qidsql.cli.options import source_and_table
from qidsql.declarations.options import Option

if TYPE_CHECKING:
    from qidsql.core.tables import CatalogTable

COMPLETION_SECONDS = 3
SPLIT_AT = ":="  # where bash splits words, URLs included
TABLES = ("table", "left")  # arguments that name the table whose columns are meant

Complete: TypeAlias = Callable[[typer.Context, str], list[str]]


def completer(option: Option) -> Complete | None:
    """The function that completes the option's value; None leaves it to the shell, which completes files."""
    values = option.values or tuple(option.metavar.split("|") if re.fullmatch("[a-z|]+", option.metavar) else ())
    if values:
        return lambda ctx, incomplete: list(values)
    named = option.metavar.partition("|")[0]
    return {"SOURCE": _source, "TABLE": _tables, "TABLE_A": _tables, "TABLE_B": _tables, "COLUMN": _columns}.get(named)


def join_words(variables: MutableMapping[str, str]) -> None:
    """Joins the words that bash passes on where it has split one of them, such as postgresql://host."""
    words, current, joined = variables["COMP_WORDS"].split("\n"), int(variables["COMP_CWORD"]), ["qidsql"]
    place = 0
    for number, word in enumerate(words[1:], start=1):
        if number > 1 and (_is_split(word) or _is_split(words[number - 1])):
            joined[-1] += word
        else:
            joined.append(word)
        place = len(joined) - 1 if number <= current else place
    variables.update(
        {"COMP_WORDS": "\n".join(joined), "COMP_CWORD": str(place if current < len(words) else len(joined))}
    )


def _is_split(word: str) -> bool:
    return bool(word) and set(word) <= set(SPLIT_AT)


def _source(ctx: typer.Context, incomplete: str) -> list[str]:
    """The tables of the default source, for which SOURCE is left out."""
    return _tables(ctx, incomplete) if os.environ.get("QIDSQL_URL") else []


def _tables(ctx: typer.Context, incomplete: str) -> list[str]:
    """By their bare names where these are unique and no schema is typed."""
    source, _ = _typed(ctx)
    return [_quoted(name) for name in _names(_catalog(source), "." in incomplete)]


def _columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Of the table that is typed before, or that is the only one; else of all tables, as TABLE.COLUMN."""
    source, table = _typed(ctx)
    tables = _catalog(source)
    wanted = [each for each in tables if table in (None, str(each.name), _bare(each))]
    if len(wanted) == 1:
        return [_quoted(each.name) for each in wanted[0].columns]
    named = zip(_names(wanted), wanted, strict=True)
    return [_quoted(f"{name}.{each.name}") for name, owner in named for each in owner.columns]


def _quoted(name: str) -> str:
    """The name as bash needs it; other shells quote what they insert, and compare what is typed with the bare name."""
    return shlex.quote(name) if os.environ.get("_QIDSQL_COMPLETE", "").endswith("bash") else name


def _typed(ctx: typer.Context) -> tuple[str | None, str | None]:
    """The source and the table that are typed so far.

    After an option without its value, arguments are not assigned to the command's parameters yet.
    """
    arguments = [each.name for each in ctx.command.params if each.param_type_name == "argument"]
    typed = {**ctx.params, **dict(zip(arguments, ctx.args, strict=False))}
    table = next((typed[each] for each in TABLES if typed.get(each)), None)
    return source_and_table(typed.get("source"), table)


def _names(tables: "list[CatalogTable]", qualified: bool = False) -> Iterator[str]:
    bare = [_bare(table) for table in tables]
    for table, name in zip(tables, bare, strict=True):
        yield str(table.name) if qualified or bare.count(name) > 1 else name


def _bare(table: "CatalogTable") -> str:
    return str(table.name).rpartition(".")[2]


def _catalog(source: str | None) -> "list[CatalogTable]":
    """The tables of the source; none if it cannot be opened in time."""
    from qidsql.engines.connect import Source

    with suppress(Exception), Source(source, {"workers": 1}, max_seconds=COMPLETION_SECONDS).opened() as engine:
        return list(engine.catalog(None).tables)
    return []
