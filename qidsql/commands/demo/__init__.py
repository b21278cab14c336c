"""qidsql demo: request, work, result, report."""
