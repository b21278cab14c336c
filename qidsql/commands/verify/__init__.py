"""qidsql verify: request, work, result, report."""
