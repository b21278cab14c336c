"""qidsql protect --by cells: request, work, result, report."""
