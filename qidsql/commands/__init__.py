"""A folder for each command: request, work, result, report (see `qidsql.declarations.options`)."""
