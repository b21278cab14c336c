"""qidsql link: request, work, result, report."""
