"""qidsql protect --by turns: request, work, result, report."""
