"""qidsql kmap: request, work, result, report."""
