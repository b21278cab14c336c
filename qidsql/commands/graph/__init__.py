"""qidsql graph: request, work, result, report."""
