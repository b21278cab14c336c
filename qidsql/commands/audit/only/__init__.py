"""qidsql audit --only: request, work, result, report."""
