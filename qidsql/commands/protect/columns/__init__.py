"""qidsql protect --by columns: request, work, result, report."""
