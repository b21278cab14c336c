"""qidsql audit: request, work, result, report."""
