"""qidsql impact: request, work, result, report."""
