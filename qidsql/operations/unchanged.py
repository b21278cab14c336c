"""Tables that are as they were when they were last audited: their verdict stands.

A fingerprint covers all that a verdict was read from and made by: the rows, in any order, hashed with a secret of the
history; the table as the catalog describes it; the policy, weights and files; who read, with which versions. Two tables
that differ have the same one with a probability of about 1 in 2 to the 63rd. Nobody can aim at it without the secret:
DuckDB hashes each row behind it by MD5, Postgres by its hashes with a seed of it. Where all bytes of the files that
hold the table are the same (BLAKE2 with a key), so are the rows, and none is read.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from qidsql.commands.audit.command import AuditResult
from qidsql.core.policy import BUDGETS, Policy, settings_of
from qidsql.core.recodings import read_hierarchy
from qidsql.core.requirements import read_order
from qidsql.core.results import Verdict
from qidsql.core.tables import Table
from qidsql.engines.base import Engine
from qidsql.generalization.declared import contents_of
from qidsql.operations.table_run import TableRun
from qidsql.sql.relation import fingerprint, relation
from qidsql.version import __version__


def asked_of(engine: Engine, policy: Policy, weights: Mapping[str, int], hierarchies: str | None) -> list[Any]:
    """What is asked about the rows, by whom and within which budgets: with another one the same rows may have another
    verdict, or more may be known of them. Raises UsageError."""
    files = [
        policy.hierarchy and read_hierarchy(policy.hierarchy),
        policy.order and read_order(policy.order),
        hierarchies and contents_of(Path(hierarchies)),
    ]
    budgets = [getattr(policy, name) for name in BUDGETS]
    asked = [settings_of(policy), budgets, policy.each_row, policy.empty, sorted(weights.items())]
    return [__version__, engine.version, engine.role, engine.time_zone, engine.read_with, *asked, files]


def fingerprint_of(engine: Engine, table: Table, asked: list[Any], secret: str) -> str | None:
    """The fingerprint of a table in the state that the answer in progress reads; None if there is none. One scan.

    All columns that this user may read count: an audit also looks at some that it leaves out. Raises Stopped,
    StatementError, AccessError.
    """
    columns = tuple(column for column in table.columns if column.readable)
    if engine.dialect.keyed_hash is None or not engine.sees_one_state(table) or not columns:
        return None
    key = int.from_bytes(hashlib.sha256(secret.encode()).digest()[:7])
    rows = engine.run(fingerprint(engine.dialect, relation(engine.dialect, table, columns), columns, key))
    return _mark(rows, table, asked, secret)


def file_fingerprint_of(engine: Engine, table: Table, asked: list[Any], secret: str) -> str | None:
    """The fingerprint of a table by the bytes of its files, in the state that the engine reads; None if there is none,
    or the rows depend on the day. No statement. Raises BudgetSpent."""
    if table.time_dependent or (table.condition is not None and table.condition.time_dependent):
        return None
    found = engine.file_hash(table, hashlib.sha256(secret.encode()).digest())
    return None if found is None else _mark(found, table, asked, secret)


def _mark(rows: object, table: Table, asked: list[Any], secret: str) -> str:
    everything = [asked, repr(replace(table, estimated_rows=None)), rows]
    return hmac.new(secret.encode(), json.dumps(everything, default=str).encode(), "sha256").hexdigest()


def stands(before: TableRun | None, mark: str | None) -> bool:
    """Whether the earlier verdict is on a table with this fingerprint. One of an audit that another attempt may take
    further has none."""
    if before is None or mark is None or mark not in (before.fingerprint, before.file_fingerprint):
        return False
    return isinstance(before.audit, AuditResult) and before.audit.verdict in (Verdict.PASS, Verdict.VIOLATION)
