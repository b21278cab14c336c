"""qidsql keys: request, work, result, report."""
