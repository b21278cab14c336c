"""qidsql init: request, work, result, report."""
