"""qidsql tables: its request, the work, the result and its report."""
