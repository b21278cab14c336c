"""Who is told that a table's verdict changed, and how: once per change, and not lost when nobody answers."""
