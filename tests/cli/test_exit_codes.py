"""Exit codes: what each verdict ends a command with."""

from qidsql.core.exit_code import ExitCode
from qidsql.core.results import Verdict

CODES = {"pass": 0, "finished": 0, "violation": 1, "error": 2, "inconclusive": 3}


def test_a_verdict_ends_a_command_with_its_exit_code() -> None:
    assert {str(each): int(each.exit_code) for each in Verdict} == CODES
    assert {int(each) for each in ExitCode} == set(CODES.values())
