"""qidsql anonymize: request, work, result, report."""
