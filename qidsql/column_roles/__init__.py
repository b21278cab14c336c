"""What the columns of a table are likely to be, proposed from their names, labels and values."""
