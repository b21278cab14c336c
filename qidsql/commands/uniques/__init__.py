"""qidsql uniques: request, work, result, report."""
