"""Checks before an audit: each with its state, a text and a remedy. Independent of engines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from qidsql.core.tables import TableName


class State(StrEnum):
    """The state of a check."""

    OK = "ok"
    NOTE = "note"  # good to know; nothing to do
    WARNING = "warning"  # an audit works, but something should be done
    PROBLEM = "problem"  # an audit cannot work


@dataclass(frozen=True, slots=True)
class Check:
    """One check, in words, with its remedy (empty: nothing to do)."""

    state: State
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """An engine's checks: its session, single tables, and the SQL that grants missing rights."""

    session: tuple[Check, ...]
    tables: Mapping[TableName, tuple[Check, ...]] = field(default_factory=dict)
    grants: tuple[str, ...] = ()
