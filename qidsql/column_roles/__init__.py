"""The likely roles of the columns of a table, proposed from their names, labels and values."""
