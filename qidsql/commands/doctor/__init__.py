"""qidsql doctor: request, work, result, report."""
