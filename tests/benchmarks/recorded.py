"""The recorded figures of benchmarks, from which `python -m tests.figures` makes the manual's page."""

import json
import time
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("recorded.json")


def recorded() -> dict[str, dict[str, Any]]:
    """The figures by the name of their row."""
    found: dict[str, dict[str, Any]] = json.loads(RECORDED.read_text())
    return found


def record(rows: dict[str, dict[str, Any]]) -> None:
    """Keep these figures, of today, beside those of other rows."""
    dated = {name: figures | {"date": time.strftime("%Y-%m-%d")} for name, figures in rows.items()}
    lines = (f" {json.dumps(name)}: {json.dumps(figures)}" for name, figures in (recorded() | dated).items())
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
