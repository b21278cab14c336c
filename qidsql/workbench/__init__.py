"""What is worked out on codes of rows, in an embedded DuckDB of our own: row patterns, plans of suppression, lists."""
