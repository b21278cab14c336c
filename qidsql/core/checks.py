"""What was looked at before an audit, and how it is: each finding with what to do about it. Knows no engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from qidsql.core.tables import TableName


class State(StrEnum):
    """How something is."""

    OK = "ok"
    NOTE = "note"  # good to know; nothing to do
    WARNING = "warning"  # an audit works, yet something should be done
    PROBLEM = "problem"  # an audit cannot work


@dataclass(frozen=True, slots=True)
class Check:
    """One finding, in words, and what to do about it (empty: nothing)."""

    state: State
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Examination:
    """What an engine says of itself: its session, single tables, and the SQL that gives the rights that are missing."""

    session: tuple[Check, ...]
    tables: Mapping[TableName, tuple[Check, ...]] = field(default_factory=dict)
    grants: tuple[str, ...] = ()
