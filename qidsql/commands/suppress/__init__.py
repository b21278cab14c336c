"""qidsql suppress: request, work, result, report."""
