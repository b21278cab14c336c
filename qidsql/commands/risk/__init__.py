"""qidsql risk: request, work, result, report."""
