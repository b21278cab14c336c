"""One file per engine; the only rooms that import a database driver."""
