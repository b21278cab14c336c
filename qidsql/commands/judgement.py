"""The verdict of a result, derived again from its other facts: what a file states need not follow from them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import Any, get_args, get_type_hints

from qidsql.commands.audit import verdict as of_audit
from qidsql.commands.audit.command import AuditResult
from qidsql.commands.keys import command as of_keys
from qidsql.commands.keys.command import KeysResult
from qidsql.commands.protect import result as of_protect
from qidsql.commands.protect.cells import identical_result as of_identical
from qidsql.commands.protect.cells import matching_result as of_matching
from qidsql.commands.protect.cells.identical_result import IdenticalRows
from qidsql.commands.protect.cells.matching_result import MatchingRows
from qidsql.commands.protect.columns import command as of_columns
from qidsql.commands.protect.columns.command import ColumnsResult
from qidsql.commands.protect.result import ProtectResult
from qidsql.commands.release import command as of_release
from qidsql.commands.release.command import ReleaseResult
from qidsql.commands.uniques import command as of_uniques
from qidsql.commands.uniques.command import UniquesResult
from qidsql.core.results import Result, Verdict
from qidsql.declarations.results import schema_of

JUDGED: Mapping[type, Callable[[Any], Result]] = {
    AuditResult: of_audit.judged,
    UniquesResult: of_uniques.judged,
    KeysResult: of_keys.judged,
    ColumnsResult: of_columns.judged,
    ProtectResult: of_protect.judged,
    MatchingRows: of_matching.judged,
    IdenticalRows: of_identical.judged,
    ReleaseResult: of_release.judged,
}


def judged_again(result: Result) -> Result | None:
    """The result with the verdict and the reason that follow from its figures; None if it states another verdict.

    What may stay inconclusive, for a reason that is not in the result, stays so. A verdict that rests on more than the
    result has is called "as recorded".
    """
    judge = JUDGED.get(type(result))
    if judge is None:
        return replace(result, reason=f"as recorded: {result.reason}") if result.reason else result
    found = judge(result)
    if (result.verdict, found.verdict) == (Verdict.INCONCLUSIVE, Verdict.PASS):
        return result
    return found if found.verdict is result.verdict else None


def result_classes(command: str) -> tuple[Any, ...]:
    """The classes of a command's results: what its work returns, and that of its ways. Empty if there is no such
    command."""
    name = f"qidsql.commands.{command}"
    if not all(map(str.isidentifier, command.split("."))) or find_spec(name) is None:
        return ()
    if find_spec(f"{name}.report") is None:
        return ()
    work = command.rpartition(".")[2]
    found = get_type_hints(getattr(import_module(f"{name}.{work}"), work))["return"]
    ways = import_module(f"{name}.command").COMMAND.ways
    return (*(get_args(found) or (found,)), *chain(*(result_classes(f"{command}.{way}") for way in ways)))


def class_of(document: Mapping[str, Any]) -> Any:
    """The class of the result that a file states: of its command, the one with most of its keys. None if there is no
    such command."""
    kinds = result_classes(str(document.get("command")))
    return max(kinds, key=lambda kind: len(schema_of([kind], "")["properties"].keys() & document.keys()), default=None)
