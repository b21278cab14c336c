"""Exit codes: what each verdict ends a command with."""

import pytest
import typer

from qidsql.cli.exit_codes import exit_with
from qidsql.core.results import Verdict

CODES = {"pass": 0, "finished": 0, "violation": 1, "error": 2, "inconclusive": 3}


@pytest.mark.parametrize(("verdict", "code"), [*CODES.items(), ("anything else", 3)])
def test_a_verdict_ends_a_command_with_its_exit_code(verdict: str, code: int) -> None:
    with pytest.raises(typer.Exit) as ended:
        exit_with(verdict)
    assert ended.value.exit_code == code


def test_the_verdicts_are_these() -> None:
    assert {str(each) for each in Verdict} == set(CODES)
