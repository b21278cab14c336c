"""SQLite databases, through the sqlite3 module of Python's standard library."""
