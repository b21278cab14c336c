"""qidsql tables: request, work, result, report."""
