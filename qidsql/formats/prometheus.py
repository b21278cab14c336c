"""Metrics in Prometheus' text format, for the textfile collector of node_exporter and its like."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from qidsql.formats.document_words import BROKEN, gaps, open_findings, whole_of

COVERED = {
    "tables": "Tables of the source that the policy file answers for.",
    "tables_covered": "Those of them that the policy covers.",
    "columns": "Columns of these tables.",
    "columns_covered": "Those of them that the policy covers.",
}
VERDICTS = ("pass", "violation", "error", "inconclusive")


class Sample(NamedTuple):
    """One line: labels and value."""

    labels: Mapping[str, str]
    value: float


def render(document: Mapping[str, Any]) -> str:
    """Gauges of the run and of each table. Times are Unix seconds; a figure that is not known has no line."""
    lines = []
    for name, help, samples in _metrics(document):
        if samples:
            lines += [f"# HELP {name} {help}", f"# TYPE {name} gauge"]
            lines += [f"{name}{_labels(sample.labels)} {_value(sample.value)}" for sample in samples]
    return "\n".join(lines) + "\n"


def _metrics(document: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Sample]]]:
    tables = [(_of(table), _figures(table)) for table in document["tables"]]
    audits = [(labels, table["audit"]) for labels, table in tables if table["audit"]]
    profiles = [(labels, audit["profile"]) for labels, audit in audits if audit["profile"]]

    def gauge(name: str, help: str, values: list[tuple[Mapping[str, str], Any]]) -> tuple[str, str, list[Sample]]:
        known = [Sample(labels, float(value)) for labels, value in values if isinstance(value, int | float)]
        return f"qidsql_{name}", help, known

    version = {"version": str(document["qidsql"])}
    yield gauge("info", "The qidsql that wrote this file.", [(version, 1)])
    yield gauge("run_verdict", "1 for the verdict of the last run, the worst of its tables.", _states({}, document))
    yield gauge("run_started_timestamp_seconds", "When the last run began.", [({}, _unix(document["started"]))])
    yield gauge("run_duration_seconds", "How long it took.", [({}, document["seconds"])])
    yield gauge("run_statements", "Statements that it asked.", [({}, document["statements"])])
    yield gauge(
        "run_last_success_timestamp_seconds",
        "When a run last judged every table, whatever the verdicts.",
        [({}, _last_success(document))],
    )
    sources = document["coverage"]["sources"] if document["coverage"] else []
    by_source = [({"source": str(source["source"])}, source) for source in sources if not source["error"]]
    for name, help in COVERED.items():
        yield gauge(f"coverage_{name}", help, [(labels, source[name]) for labels, source in by_source])
    yield gauge(
        "coverage_gaps",
        "What the policy and the source do not agree about, by severity.",
        [sample for labels, _ in by_source for sample in _gaps(labels, gaps(document))],
    )
    yield gauge(
        "table_verdict",
        "1 for the verdict of the table.",
        [sample for labels, table in tables for sample in _states(labels, table)],
    )
    yield gauge(
        "table_last_success_timestamp_seconds",
        "When the table was last judged, whatever the verdict.",
        [(labels, _last_judged(table)) for labels, table in tables],
    )
    yield gauge("table_rows", "Rows audited.", [(labels, audit["rows"]) for labels, audit in audits])
    yield gauge("table_k_asked", "The class size that the policy asks for.", [(x, a["policy"]["k"]) for x, a in audits])
    yield gauge("table_smallest_class", "Its smallest class: the k reached.", [(x, p["smallest"]) for x, p in profiles])
    yield gauge(
        "table_below_k",
        "Rows (with an entity: entities) in classes below k.",
        [(labels, profile["rows_at_risk"]) for labels, profile in profiles],
    )
    yield gauge(
        "table_below_k_ratio",
        "The same as a share of all.",
        [(x, p["share_at_risk"]) for x, p in profiles if isinstance(whole_of(p), int)],
    )
    yield gauge(
        "table_findings",
        "Findings, by state.",
        [sample for labels, table in tables for sample in _findings(labels, table)],
    )
    yield gauge(
        "table_statements", "Statements asked of it.", [(labels, audit["statements"]) for labels, audit in audits]
    )
    yield gauge("table_duration_seconds", "How long its audit took.", [(x, audit["seconds"]) for x, audit in audits])


def _of(table: Mapping[str, Any]) -> dict[str, str]:
    labels = {"source": str(table["source"]), "table": str(table["table"])}
    return labels | ({"owner": str(table["owner"])} if table["owner"] else {})


def _figures(table: Mapping[str, Any]) -> dict[str, Any]:
    """The little of a table that is told, so that not all tables are held at once."""
    audit = table["audit"]
    told = ("started", "seconds", "statements", "rows", "profile", "policy")
    return {
        **{key: table[key] for key in ("verdict", "trend")},
        "findings": [{"state": finding["state"]} for finding in table["findings"]],
        "audit": audit and {key: audit[key] for key in told},
    }


def _states(labels: Mapping[str, str], judged: Mapping[str, Any]) -> list[tuple[Mapping[str, str], Any]]:
    return [({**labels, "verdict": verdict}, int(judged["verdict"] == verdict)) for verdict in VERDICTS]


def _findings(labels: Mapping[str, str], table: Mapping[str, Any]) -> list[tuple[Mapping[str, str], Any]]:
    states = [finding["state"] for finding in table["findings"]]
    counted = [({**labels, "state": state}, states.count(state)) for state in ("new", "worse", "excepted")]
    return [*counted, ({**labels, "state": "open"}, len(open_findings(table)))]


def _gaps(labels: Mapping[str, str], found: list[Mapping[str, Any]]) -> list[tuple[Mapping[str, str], Any]]:
    mine = [gap["severity"] for gap in found if gap["source"] == labels["source"]]
    return [({**labels, "severity": each}, mine.count(each)) for each in ("violation", "warning")]


def _last_success(document: Mapping[str, Any]) -> float | None:
    """The end of this run when it judged every table, else the beginning of the last one that did, by their trends."""
    if document["verdict"] not in BROKEN and not any(table["verdict"] in BROKEN for table in document["tables"]):
        return (_unix(document["started"]) or 0) + float(document["seconds"])
    judged = [
        {point["run"]: _unix(point["started"]) for point in table["trend"] if point["verdict"] not in BROKEN}
        for table in document["tables"]
    ]
    whole = [started for run, started in judged[0].items() if all(run in each for each in judged)] if judged else []
    return max((started for started in whole if started), default=None)


def _last_judged(table: Mapping[str, Any]) -> float | None:
    if table["verdict"] not in BROKEN and table["audit"]:
        return (_unix(table["audit"]["started"]) or 0) + float(table["audit"]["seconds"])
    judged = [_unix(point["started"]) for point in table["trend"] if point["verdict"] not in BROKEN]
    return max((moment for moment in judged if moment), default=None)


def _unix(iso: object) -> float | None:
    try:
        return datetime.fromisoformat(str(iso)).timestamp()
    except ValueError:
        return None


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = [f'{name}="{_escaped(value)}"' for name, value in labels.items()]
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _value(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
