"""A folder for each command: its request, its work, its result, its report (see `qidsql.declarations.commands`)."""
