"""The report for programs."""

import json

from qidsql.audit import AuditResult


def render(result: AuditResult) -> str:
    """The result's `to_dict` as JSON text."""
    return json.dumps(result.to_dict(), indent=2, ensure_ascii=False) + "\n"
