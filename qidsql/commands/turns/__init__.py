"""qidsql turns: request, work, result, report."""
