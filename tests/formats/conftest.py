"""Documents of real audits, made once."""

from collections.abc import Mapping

import pytest

from tests.exhaustive import always
from tests.formats.documents import RunResult, run, single

CASES = always(
    *("pass", "violation", "allowed", "inconclusive", "empty", "entity", "hostile", "run"),
    longer=["identifier", "unfinished", "one row", "wildcard"],
)


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, RunResult]:
    made = single(tmp_path_factory.mktemp("documents"))
    return {**made, "run": run(made)}


@pytest.fixture(params=CASES)
def document(request: pytest.FixtureRequest, documents: Mapping[str, RunResult]) -> RunResult:
    """Each document in turn."""
    return documents[request.param]
