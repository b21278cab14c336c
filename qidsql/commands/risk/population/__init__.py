"""qidsql risk --population: request, work, result, report."""
