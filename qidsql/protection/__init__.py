"""Ways to protect a table: withholding columns, suppressing cells, and writing the copies."""
