"""OpenLineage's own Python client builds the same event from the same fields."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from qidsql.formats.registry import rendered
from qidsql.operations.document import RunResult
from tests.environments import environment_with

pytestmark = pytest.mark.exhaustive

CLIENT = """
import json, sys
from openlineage.client.event_v2 import InputDataset, Job, Run, RunEvent, RunState
from openlineage.client.generated.data_quality_assertions_dataset import Assertion, DataQualityAssertionsDatasetFacet
from openlineage.client.serde import Serde

for path in sys.argv[1:]:
    told = json.load(open(path))
    inputs = []
    for each in told["inputs"]:
        facet = each["inputFacets"]["dataQualityAssertions"]
        known = DataQualityAssertionsDatasetFacet(
            assertions=[Assertion(**one) for one in facet["assertions"]], producer=facet["_producer"]
        )
        assert known._schemaURL.rpartition("/")[2] == facet["_schemaURL"].rpartition("/")[2]
        inputs.append(InputDataset(each["namespace"], each["name"], inputFacets={"dataQualityAssertions": known}))
    event = RunEvent(
        eventType=RunState[told["eventType"]], eventTime=told["eventTime"], run=Run(told["run"]["runId"]),
        job=Job(**told["job"]), producer=told["producer"], inputs=inputs,
    )
    again = json.loads(Serde.to_json(event))
    for name in ("eventType", "eventTime", "producer", "schemaURL"):
        assert again[name] == told[name], name
    assert [(each["namespace"], each["name"]) for each in again["inputs"]] == [
        (each["namespace"], each["name"]) for each in told["inputs"]
    ]
"""


def test_the_client_accepts_every_event(documents: Mapping[str, RunResult], tmp_path: Path) -> None:
    python = environment_with(tmp_path / "client", "openlineage-python>=1.30")
    paths = []
    for name, document in documents.items():
        path = tmp_path / f"{name}.json"
        path.write_text(rendered(document, "openlineage"))
        assert json.loads(path.read_text())["inputs"]
        paths.append(path)
    done = subprocess.run([python, "-c", CLIENT, *paths], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
