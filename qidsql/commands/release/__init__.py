"""qidsql release: request, lines, work, result, report."""
