"""qidsql mask: request, work, result, report."""
