"""The verdict of a result, derived again from its other facts: what a file states need not follow from them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, get_type_hints

from qidsql.commands.anonymize import result as of_anonymize
from qidsql.commands.anonymize.result import AnonymizeResult
from qidsql.commands.audit import verdict as of_audit
from qidsql.commands.audit.command import AuditResult
from qidsql.commands.keys import command as of_keys
from qidsql.commands.keys.command import KeysResult
from qidsql.commands.mask import command as of_mask
from qidsql.commands.mask.command import MaskResult
from qidsql.commands.protect import result as of_protect
from qidsql.commands.protect.result import ProtectResult
from qidsql.commands.release import command as of_release
from qidsql.commands.release.command import ReleaseResult
from qidsql.commands.suppress import result as of_suppress
from qidsql.commands.suppress.result import SuppressResult
from qidsql.commands.uniques import command as of_uniques
from qidsql.commands.uniques.command import UniquesResult
from qidsql.core.results import Result, Verdict

JUDGED: Mapping[type, Callable[[Any], Result]] = {
    AuditResult: of_audit.judged,
    UniquesResult: of_uniques.judged,
    KeysResult: of_keys.judged,
    MaskResult: of_mask.judged,
    ProtectResult: of_protect.judged,
    SuppressResult: of_suppress.judged,
    AnonymizeResult: of_anonymize.judged,
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


def class_of_command(command: str) -> Any:
    """The class of a command's result: the return type of its work. None if there is no such command."""
    name = f"qidsql.commands.{command}"
    if not command.isidentifier() or find_spec(name) is None or find_spec(f"{name}.report") is None:
        return None
    return get_type_hints(getattr(import_module(f"{name}.{command}"), command))["return"]
