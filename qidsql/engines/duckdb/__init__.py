"""DuckDB: databases, data files, the workbench and the host of the extension."""
