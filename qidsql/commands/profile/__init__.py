"""qidsql profile: request, work, result, report."""
