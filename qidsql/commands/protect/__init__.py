"""qidsql protect: request, work, result, report."""
